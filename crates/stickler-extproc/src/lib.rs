//! An external processor of Envoy (`envoy.service.ext_proc.v3`) that validates MCP messages.
//!
//! Envoy sends the headers and the body of a request, and of those responses that are checked. What is right and wrong
//! about them is decided by [`stickler_gateway::ExternalServer`]; this crate translates between its judgements and
//! Envoy's messages, and serves them over gRPC.
//!
//! | module | purpose |
//! | --- | --- |
//! | `envoy` | builds Envoy's messages |
//! | `exchange` | the stream of one HTTP request |
//! | `routes` | selects the settings of a route |
//! | `server` | the gRPC server: TLS, health, graceful shutdown |
#![cfg(feature = "server")]

mod envoy;
mod exchange;
mod routes;
mod server;

pub use routes::Routes;
pub use server::{Settings, Tls, serve};

/// The header of requests that the processor itself sends to list tools. Its value is the shared secret.
pub const LEARN_HEADER: &str = "x-stickler-learn";
