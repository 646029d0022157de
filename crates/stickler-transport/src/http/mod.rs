//! HTTP client for MCP servers: connection pool, TLS, single requests and a probing client.
//!
//! | module | contents |
//! | --- | --- |
//! | `upstream`, `tls` | the keep-alive connection pool of one server and its TLS trust roots |
//! | `credentials` | separates connections by the credentials in request headers |
//! | `session` | the headers, session id, streams and end of one MCP session |
//! | `event_stream` | the events of an SSE response |
//! | `probe_client` | a blocking client that posts messages and reports every event |
//! | `one_shot` | a single blocking request with its complete response |
//! | `received` | reading of bodies up to a size limit |
//! | `headers`, `url` | MCP header names, content types, validation of URLs |
//! | `legacy_sse` | detection of the HTTP+SSE transport of 2024-11-05 |

mod credentials;
mod event_stream;
mod headers;
pub mod legacy_sse;
mod one_shot;
mod probe_client;
mod received;
mod session;
mod tls;
mod upstream;
mod url;

pub use credentials::{IdentityHeaders, credentials_key};
pub use event_stream::{EventStream, Interrupted};
pub use headers::{SESSION, has_content_type};
pub use one_shot::{PostResponse, fetch, post};
pub use probe_client::{ProbeClient, ProbeEvent};
pub use received::{BodyLimits, Received, Stalled, receive, receive_within};
pub use session::{HttpSession, LAST_EVENT, add_body_headers, json_headers};
pub use upstream::{Lease, SendError, Upstream};
pub(crate) use url::parse as parse_url;
