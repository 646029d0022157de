//! Relays SSE streams from a server at a URL to the client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use stickler::Code;
use stickler_protocol::envelope::{MessageKind, PartialHeader};
use stickler_protocol::frame::{SseEvent, SseFrame, sse_event};
use stickler_transport::http::{EventStream, Lease};
use tokio::sync::{mpsc, watch};

use crate::downstream::http::body::{Body, Source};
use crate::driver::Driver;
use crate::driver::message::{Message, Outgoing};
use crate::upstream::http::deadline::Deadline;
use crate::upstream::http::relay::{CLIENT_DISCONNECTED, Exchange, Phase, SHUTTING_DOWN};

impl Exchange<'_> {
    pub(crate) fn stream(
        &self,
        incoming: Incoming,
        lease: Lease,
        deadline: Deadline,
        first: &[Message],
    ) -> Body {
        let (sender, events) = mpsc::channel(8);
        let relay = Relay {
            driver: Arc::clone(self.driver),
            is_standalone: deadline.ids.is_empty(),
            deadline,
            resumable: false,
            events: sender,
            phase: self.proxy.phase.subscribe(),
        };
        let limit = self.proxy.factory.message_bytes();
        tokio::spawn(relay.run(EventStream::new(incoming, limit), lease));
        let ready = first.iter().map(|one| sse_event(&one.bytes).into()).collect();
        Body::stream(ready, Source::Raw(events), None)
    }
}

/// Maximum time that requests wait after a response on their stream that matches none of them.
const UNMATCHED_TIMEOUT: Duration = Duration::from_secs(60);

/// The task that relays one stream.
struct Relay {
    driver: Arc<Driver>,
    /// The requests that are still to be answered, and their deadline.
    deadline: Deadline,
    is_standalone: bool,
    /// Events had ids, so the client can resume the stream.
    resumable: bool,
    events: mpsc::Sender<Bytes>,
    phase: watch::Receiver<Phase>,
}

impl Relay {
    async fn run(mut self, mut incoming: EventStream, lease: Lease) {
        let end_phase = if self.is_standalone { Phase::Closing } else { Phase::Closed };
        let reason = loop {
            let frame = tokio::select! {
                biased;
                // Checked first: a shutdown also breaks the connection.
                _ = self.phase.wait_for(|phase| *phase >= end_phase) => break Some(SHUTTING_DOWN),
                () = self.events.closed() => break Some(CLIENT_DISCONNECTED),
                // Checked before new data, so that an endless stream cannot avoid the deadline.
                () = self.deadline.elapsed() => break None,
                frame = incoming.next() => frame,
            };
            match frame {
                Some(Ok(frame)) => {
                    if !self.event(frame).await {
                        return self.end(CLIENT_DISCONNECTED).await;
                    }
                }
                Some(Err(_)) => break Some("the server's response was interrupted"),
                None => {
                    lease.release();
                    break Some("the server ended the stream without a response");
                }
            }
        };
        match reason {
            Some(reason) => self.end(reason).await,
            None => {
                for error in self.deadline.expire(&self.driver) {
                    let _ = self.events.send(sse_event(&error.bytes).into()).await;
                }
            }
        }
    }

    /// Answers the remaining requests with errors. If the client can resume the stream, they stay
    /// pending instead.
    async fn end(self, reason: &str) {
        if self.resumable && !self.deadline.is_modern {
            return self.deadline.continue_in_background(&self.driver);
        }
        for id in &self.deadline.ids {
            if let Some(error) = self.driver.abandon_request(id, Code::ServerGone, reason) {
                let _ = self.events.send(sse_event(&error.bytes).into()).await;
            }
        }
    }

    /// Forwards an event. Returns false if the client has disconnected.
    async fn event(&mut self, frame: SseFrame) -> bool {
        let event = match frame {
            SseFrame::Event(event) => event,
            SseFrame::TooLong(prefix) => {
                let outgoing = self
                    .driver
                    .handle_oversized(stickler_protocol::Side::Server, PartialHeader::of(&prefix));
                return self.forward(outgoing, None).await;
            }
        };
        self.resumable |= event.id.is_some();
        match event.data.clone().filter(|_| event.is_message) {
            Some(data) => {
                let data = Bytes::from(data);
                let outgoing = self.driver.handle_server_message(&data);
                self.forward(outgoing, Some((event, data))).await
            }
            None => self.events.send(event.raw.into()).await.is_ok(),
        }
    }

    async fn forward(&mut self, outgoing: Outgoing, event: Option<(SseEvent, Bytes)>) -> bool {
        self.driver.send(outgoing.to_server);
        for message in outgoing.to_client {
            if message.header.kind == MessageKind::Response {
                let id = message.header.id.as_ref();
                if let Some(index) = self.deadline.ids.iter().position(|one| Some(one) == id) {
                    self.deadline.ids.swap_remove(index);
                } else if self.driver.pending_responses().is_pending(id) {
                    // The response to a call that was held and waits on another POST.
                    self.driver.deliver(vec![message]).await;
                    continue;
                } else {
                    // It may have been meant for a request of this stream.
                    self.deadline.answer_within(UNMATCHED_TIMEOUT);
                }
            }
            let bytes = encode(event.as_ref(), &message);
            if self.events.send(bytes.into()).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// Encodes a message as an event: with the bytes of the event that it came in if it is unchanged.
pub(crate) fn encode(event: Option<&(SseEvent, Bytes)>, message: &Message) -> Vec<u8> {
    match event {
        Some((event, data)) if *data == message.bytes => event.raw.clone(),
        Some((event, _)) => event.with_data(&message.bytes),
        None => sse_event(&message.bytes),
    }
}
