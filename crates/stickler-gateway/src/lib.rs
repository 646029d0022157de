//! The gateway: forwards MCP messages between a client and a server through a validating connection.
//!
//! The protocol layer makes all decisions. This crate reads, writes and frames bytes, and starts and stops
//! server processes. Standard output carries only protocol messages; logs are written to standard error.
//!
//! [`relay`] and [`relay_to_url`] serve one client on standard input and output; [`serve`] serves clients by
//! Streamable HTTP. Each takes plain settings; the caller reads files, environment and command line.
//!
//! | module | purpose |
//! | --- | --- |
//! | `downstream` | clients, on stdio and by HTTP |
//! | `driver` | one protocol connection, and the requests that wait for responses |
//! | `multiplexer`, `id_rewrite` | modern requests of all clients on one shared server process |
//! | `event_store` | resumable event streams of legacy sessions |
//! | `external` | exchanges of a data plane that moves the bytes itself |
//! | `tool_views` | what is known of a server by client identity and session |
//! | [`observe`] | events of messages, and their observers |
//! | `upstream` | servers: processes and URLs |

mod connection_factory;
mod downstream;
mod driver;
mod event_store;
mod external;
mod failure;
mod id_rewrite;
mod log;
mod multiplexer;
pub mod observe;
mod page_trimming;
mod tool_views;
mod upstream;
mod work_pool;

pub use connection_factory::{ConnectionFactory, SharedResources};
pub use downstream::http::admin::{MetricsText, WriteMetrics, serve_operators};
pub use downstream::http::frontend::is_same_secret;
pub use downstream::http::reload::{Reload, Reloaded};
pub use downstream::http::{Endpoint, HttpSettings, ServerLimits, serve};
pub use downstream::stdio::{relay, relay_to_url};
pub use external::{
    ExternalAnswer, ExternalExchange, ExternalRequest, ExternalServer, Judgement, ResponsePlan,
};
pub use failure::Failure;
pub use log::Log;
pub use work_pool::WorkPool;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
