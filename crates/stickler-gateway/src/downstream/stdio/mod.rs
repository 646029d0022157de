//! Serves one client on standard input and output: `to_command` in front of a server process, `to_url` (with
//! `exchange`, one HTTP exchange) in front of a server at a URL.

mod exchange;
mod to_command;
mod to_url;

pub use to_command::relay;
pub use to_url::relay_to_url;
