//! The gateway: pumps between a client and a server, with a gatekeeper in between.
//!
//! All deciding is the core's; here bytes are read, written and framed, processes started and
//! stopped. Standard output is the wire: everything for people goes to standard error.
//!
//! [`relay`] and [`relay_to_url`] serve one client on standard input and output, [`serve`] serves clients by
//! Streamable HTTP. Each takes plain settings: where they come from (files, environment, command line) is
//! the caller's business.

mod failure;
mod footprint;
mod handshake;
mod http;
mod log;
mod recipe;
mod stdio;

pub use failure::Failure;
pub use http::{Endpoint, HttpSettings, Keeping, relay_to_url, serve};
pub use log::Log;
pub use recipe::Recipe;
pub use stdio::relay;

/// Keeps the example of the README compiling.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
