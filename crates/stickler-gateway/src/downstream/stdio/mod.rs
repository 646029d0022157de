//! Serves one client on standard input and output: `to_command` (with `shutdown`) in front of a server process,
//! `to_url` (with `exchange`, one HTTP exchange) in front of a server at a URL.

mod exchange;
mod shutdown;
mod to_command;
mod to_url;

pub use to_command::relay;
pub use to_url::relay_to_url;

/// Multiple of the grace period to wait for pending responses after the client has closed its output.
const DRAIN_GRACE_FACTOR: u32 = 12;
