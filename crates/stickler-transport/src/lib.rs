//! Connects to MCP servers: starts and supervises server processes, and sends HTTP requests to servers at a URL.
//!
//! Contract: bytes are forwarded unchanged and messages are not validated here. Every started process runs in
//! a separate process group, which is terminated with it. The caller limits how many bytes are read from
//! a peer.
//!
//! | module | contents |
//! | --- | --- |
//! | `child` | server processes: start, graceful shutdown, kill |
//! | `supervised` | a supervised process: its output, its exit, its shutdown |
//! | `nonblocking`, `pipe` | reading and writing lines without blocking, for processes and the standard streams |
//! | `signals` | termination signals |
//! | `stderr` | the standard error of a server |
//! | `restart`, `backoff` | restart policy and exponential backoff |
//! | `server` | the location of a server: a command or a URL |
//! | [`utc`] | dates and times as text |
//! | [`http`] | the HTTP client for servers at a URL |

mod backoff;
mod child;
pub mod http;
mod nonblocking;
mod pipe;
mod restart;
mod server;
mod signals;
mod stderr;
mod supervised;
pub mod utc;

pub use backoff::Backoff;
pub use child::{ExitCause, Process, ServerCommand, exit_code, signal_group};
pub use nonblocking::{Input, LineReader, Output};
pub use pipe::{Pipe, without_line_breaks};
pub use restart::{Restart, RestartWhen};
pub use server::Server;
pub use signals::{TerminationSignals, exit_on_signals, forward_signals, on_user_signal};
pub use stderr::StderrOutput;
pub use supervised::{OutputHandler, SupervisedProcess, read_output};

/// Compiles the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
