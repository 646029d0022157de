//! JSON-RPC envelopes: the kind of a message (request, notification, response, batch or noise), its id and its
//! method.
//!
//! Decodes just enough to route a message and to know which request to answer. Faults are recorded beside the
//! members that could be read, so that a message with an invalid `jsonrpc` is still answered with its id.
//!
//! A repeated member is a fault, because two readers could see two methods. `null` is a value, not an absence.
//! `1.0` is the integer 1, as in JSON Schema.

mod header;
mod id;
mod identify;
mod member_names;
mod partial_header;
mod routing_header;

pub use header::Header;
pub(crate) use header::{excerpt, is_abbreviated};
pub use id::RequestId;
pub use identify::{Envelope, EnvelopeFault, Shape};
pub use member_names::may_contain;
pub use partial_header::PartialHeader;
pub(crate) use partial_header::PartialHeaderReader;
pub use routing_header::{MessageKind, RoutingHeader};
