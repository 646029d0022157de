//! The gateway: pumps between a client and a server, with a gatekeeper in between.
//!
//! All deciding is the core's; here bytes are read, written and framed, processes started and
//! stopped. Standard output is the wire: everything for people goes to standard error.

mod child;
mod http;
mod log;
mod recipe;
mod signals;
mod stdio;
mod wire;

pub(crate) use child::{ServerCommand, signal_group};
pub(crate) use http::{HttpSettings, Server, relay_to_url, serve};
pub(crate) use log::{Level, Log};
pub(crate) use recipe::Recipe;
pub(crate) use signals::pass_signals_on;
pub(crate) use stdio::relay;
