//! The MCP client over HTTP: connections, TLS, one request and its answer, a whole conversation.
//!
//! | file | holds |
//! | --- | --- |
//! | `upstream`, `trust` | connections to one server that are kept and used again, and the certificates that TLS trusts |
//! | `asking` | a client that posts messages and hands over whatever comes back |
//! | `fetching` | one request and its whole answer |
//! | `received` | the body of an answer, within a limit |
//! | `headers`, `url` | the headers that every client reads, and URLs as they are written |
//! | `old_transport` | servers that only speak the transport of 2024-11-05 |

mod asking;
mod fetching;
mod headers;
pub mod old_transport;
mod received;
mod trust;
mod upstream;
mod url;

pub use asking::{Asker, Heard};
pub use fetching::{Answered, fetch, post};
pub use headers::{SESSION, is_kind};
pub use received::{Received, Stalled, receive, receive_within};
pub use upstream::{Lease, Unsent, Upstream};
pub(crate) use url::parse as parse_url;
