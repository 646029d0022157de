//! The gateway: pumps between a client and a server, with a gatekeeper in between.
//!
//! All deciding is the core's; here bytes are read, written and framed, processes started and
//! stopped. Standard output is the wire: everything for people goes to standard error.

mod backoff;
mod child;
mod footprint;
mod handshake;
mod http;
mod log;
mod recipe;
mod signals;
mod stderr;
mod stdio;
mod way;
mod wire;

pub(crate) use child::{Ending, Server as Process, ServerCommand, signal_group};
pub(crate) use http::{
    Asker, Endpoint, Heard, HttpSettings, Keeping, Server, fetch, post, relay_to_url, serve,
};
pub(crate) use log::Log;
pub(crate) use recipe::Recipe;
pub(crate) use signals::{Addressee, end_on_signals};
pub(crate) use stdio::relay;
