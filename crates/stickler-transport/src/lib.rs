//! Reaches MCP servers: starts and supervises their processes, and speaks HTTP to those at a URL.
//!
//! Contract: bytes go through as they are, and no message is judged here. Each process that is started
//! has a process group of its own, which ends with it. What is read from a peer is limited in size by the
//! caller.
//!
//! | module | holds |
//! | --- | --- |
//! | `child` | a server's process: started, told to end, killed |
//! | `signals` | signals that end this program, passed on to the server |
//! | `restart`, `backoff` | whether and when a server is started again |
//! | [`way`], [`wire`] | the pipe to a server that may be replaced, and messages as lines |
//! | `server` | where a server is: a command or a URL |
//! | [`http`] | the client for servers at a URL |

mod backoff;
mod child;
pub mod http;
mod restart;
mod server;
mod signals;
mod stderr;
pub mod way;
pub mod wire;

pub use backoff::Backoff;
pub use child::{Ending, Process, ServerCommand, await_end, exit_code, is_read, signal_group};
pub use restart::{Restart, RestartWhen};
pub use server::Server;
pub use signals::{Addressee, end_on_signals};

/// Keeps the example of the README compiling.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
