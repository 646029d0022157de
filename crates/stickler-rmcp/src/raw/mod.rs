//! The layer beneath rmcp: messages are judged as the bytes that came, before rmcp parses them.
//!
//! rmcp leaves what it cannot read without an answer, and answers a `tools/call` whose `params` have
//! the wrong shape with "method not found". [`RawTransport`] (stdio and other pipes) and [`RawLayer`]
//! (HTTP) tell the caller what is wrong, with the id of its request. Arguments are the business of
//! [`Validated`](crate::Validated), above.

mod arguments;
mod layer;
mod settings;
mod transport;

pub(crate) use arguments::KnownTools;
pub use layer::{RawBody, RawLayer, RawService};
pub use settings::RawSettings;
pub use transport::RawTransport;
