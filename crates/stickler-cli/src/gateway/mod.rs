//! The gateway: pumps between a client and a server, with a gatekeeper in between.
//!
//! All deciding is the core's; here bytes are read, written and framed, processes started and
//! stopped. Standard output is the wire: everything for people goes to standard error.

mod footprint;
mod handshake;
mod http;
mod log;
mod recipe;
mod stdio;

pub(crate) use http::{Endpoint, HttpSettings, Keeping, relay_to_url, serve};
pub(crate) use log::{Level, Log};
pub(crate) use recipe::Recipe;
pub(crate) use stdio::relay;
