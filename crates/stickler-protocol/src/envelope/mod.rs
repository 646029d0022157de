//! Request, notification, response, batch, or noise? Which id, which method?
//!
//! Decodes just enough to route a message and to know whom to answer. What is wrong with an
//! envelope is kept beside what could be read of it, so that a message with a bad `jsonrpc` is
//! still answered with its id.
//!
//! Decisions: a member of the envelope given twice is a fault (two readers could see two methods);
//! `null` is a value, not an absence; an array is never taken for an object; `1.0` is the integer
//! 1, as in JSON Schema.

mod address;
mod glimpse;
mod id;
mod identify;
mod spelling;
mod within;

pub use address::{Address, Bearing};
pub use glimpse::Glimpse;
pub(crate) use glimpse::Glimpser;
pub use id::RequestId;
pub use identify::{Envelope, EnvelopeFault, Shape};
pub use spelling::mentions;
pub use within::{answers_in, requests_in};
