//! Where a message begins and ends.
//!
//! On stdio a message is a line, over HTTP it is a body or an event of a stream. [`LineFramer`] and
//! [`SseFramer`] take bytes as they arrive and give messages as they are complete; neither ever
//! holds more than one message's limit of something that has no end.

mod lines;
mod sse;

pub use lines::{Frame, LineFramer};
pub use sse::{SseEvent, SseFrame, SseFramer, sse_event, sse_event_with_id};
