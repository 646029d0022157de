//! Reads the events of an SSE response.
//!
//! Contract: at most one event is buffered, of the limited size. Dropping the future of [`EventStream::next`] loses
//! nothing, so that a reader can wait for other events at the same time.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use stickler_protocol::frame::{SseFrame, SseFramer};

/// The events of a response body.
#[derive(Debug)]
pub struct EventStream {
    body: Incoming,
    framer: SseFramer,
    received: usize,
}

/// The connection was closed in the middle of the stream.
#[derive(Debug)]
pub struct Interrupted;

impl EventStream {
    /// Reads events with messages of up to `limit` bytes.
    pub fn new(body: Incoming, limit: usize) -> Self {
        Self { body, framer: SseFramer::new(limit), received: 0 }
    }

    /// Returns the next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Result<SseFrame, Interrupted>> {
        loop {
            if let Some(frame) = self.framer.next_frame() {
                return Some(Ok(frame));
            }
            match self.body.frame().await? {
                Ok(frame) => {
                    let data = frame.data_ref().map_or(&[][..], |data| data);
                    self.received = self.received.saturating_add(data.len());
                    self.framer.push(data);
                }
                Err(_) => return Some(Err(Interrupted)),
            }
        }
    }

    /// Returns the next message, which ends with the stream or its interruption. Skips comments, events of other
    /// types and messages over the size limit.
    pub async fn next_message(&mut self) -> Option<Bytes> {
        loop {
            if let SseFrame::Event(event) = self.next().await?.ok()?
                && let Some(data) = event.data.filter(|_| event.is_message)
            {
                return Some(data.into());
            }
        }
    }

    /// Returns the number of received bytes.
    pub fn received(&self) -> usize {
        self.received
    }
}
