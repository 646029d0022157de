//! The gateway: forwards MCP messages between a client and a server through a validating connection.
//!
//! The protocol layer makes all decisions. This crate reads, writes and frames bytes, and starts and stops
//! server processes. Standard output carries only protocol messages; logs are written to standard error.
//!
//! [`relay`] and [`relay_to_url`] serve one client on standard input and output; [`serve`] serves clients by
//! Streamable HTTP. Each takes plain settings; the caller reads files, environment and command line.

mod connection_factory;
mod failure;
mod handshake;
mod http;
mod log;
mod page_trimming;
mod slow_work;
mod stdio;

pub use connection_factory::{ConnectionFactory, SharedResources};
pub use failure::Failure;
pub use http::{Endpoint, HttpSettings, ServerLimits, relay_to_url, serve};
pub use log::Log;
pub use slow_work::SlowWorkLimit;
pub use stdio::relay;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
