//! Message framing.
//!
//! On stdio a message is a line; over HTTP it is a body or an event of an SSE stream. [`LineFramer`] and
//! [`SseFramer`] take bytes as they arrive and return complete messages. Neither buffers more than the size limit
//! of one message.

mod lines;
mod sse;

pub use lines::{Frame, LineFramer};
pub use sse::{SseEvent, SseFrame, SseFramer, sse_event, sse_event_with_id};
