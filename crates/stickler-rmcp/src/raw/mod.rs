//! Validation below rmcp: messages are validated as bytes, before rmcp parses them.
//!
//! rmcp does not respond to messages that it cannot parse, and answers a `tools/call` with malformed
//! `params` with "method not found". [`RawTransport`] (stdio and other pipes) and [`RawLayer`]
//! (HTTP) respond with the actual error and the id of the request. Arguments are validated by
//! [`Validated`](crate::Validated), above rmcp.

mod arguments;
mod layer;
mod settings;
mod transport;

pub(crate) use arguments::KnownTools;
pub use layer::{RawBody, RawLayer, RawService};
pub use settings::RawSettings;
pub use transport::RawTransport;
