//! Connects to MCP servers: starts and supervises server processes, and sends HTTP requests to servers at a URL.
//!
//! Contract: bytes are forwarded unchanged and messages are not validated here. Every started process runs in
//! a separate process group, which is terminated with it. The caller limits how many bytes are read from
//! a peer.
//!
//! | module | contents |
//! | --- | --- |
//! | `child` | server processes: start, graceful shutdown, kill |
//! | `supervised`, `pipe` | a supervised process on tokio: reading, non-blocking writing, shutdown |
//! | `signals` | forwarding of termination signals to the server |
//! | `stderr` | logging of a server's standard error |
//! | `restart`, `backoff` | restart policy and exponential backoff |
//! | [`stdin_slot`], [`wire`] | standard input of a restartable server, buffered writing of lines |
//! | `server` | the location of a server: a command or a URL |
//! | [`http`] | the HTTP client for servers at a URL |

mod backoff;
mod child;
pub mod http;
mod pipe;
mod restart;
mod server;
mod signals;
mod stderr;
pub mod stdin_slot;
mod supervised;
pub mod wire;

pub use backoff::Backoff;
pub use child::{
    ExitCause, Process, ServerCommand, exit_code, has_reader, signal_group, wait_for_exit,
};
pub use pipe::{Pipe, without_line_breaks};
pub use restart::{Restart, RestartWhen};
pub use server::Server;
pub use signals::{SignalForwarder, exit_on_signals, on_user_signal};
pub use supervised::{OutputHandler, SupervisedProcess, read_output};

/// Compiles the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
