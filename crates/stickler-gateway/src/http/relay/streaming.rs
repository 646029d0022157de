//! A stream of an HTTP server's on its way back.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use stickler::Code;
use stickler_protocol::envelope::{Address, Bearing, Glimpse};
use stickler_protocol::frame::{SseEvent, SseFrame, SseFramer, sse_event};
use stickler_transport::http::Lease;
use tokio::sync::{mpsc, watch};

use super::{CLIENT_LEFT, Exchange, Phase, SHUTTING_DOWN};
use crate::http::body::{Body, Source};
use crate::http::conversation::{Conversation, Heard};
use crate::http::deadline::Deadline;

impl Exchange<'_> {
    pub(super) fn stream(
        &self,
        incoming: Incoming,
        lease: Lease,
        late: Deadline,
        first: &[Bytes],
    ) -> Body {
        let (sender, events) = mpsc::channel(8);
        let relay = Relay {
            conversation: Arc::clone(self.conversation),
            is_listening: late.ids.is_empty(),
            late,
            resumable: false,
            events: sender,
            phase: self.proxy.phase.subscribe(),
        };
        let limit = self.proxy.recipe.message_bytes();
        tokio::spawn(relay.run(incoming, lease, limit));
        let ready = first.iter().map(|one| sse_event(one).into()).collect();
        Body::stream(ready, Source::Raw(events), None)
    }
}

/// A stream on its way back.
struct Relay {
    conversation: Arc<Conversation>,
    /// The requests that it is to answer, and by when.
    late: Deadline,
    is_listening: bool,
    /// Events had ids: the client can ask for the rest of a stream that broke off.
    resumable: bool,
    events: mpsc::Sender<Bytes>,
    phase: watch::Receiver<Phase>,
}

impl Relay {
    async fn run(mut self, mut incoming: Incoming, lease: Lease, limit: usize) {
        let mut framer = SseFramer::new(limit);
        let over = if self.is_listening { Phase::Closing } else { Phase::Closed };
        let reason = loop {
            let frame = tokio::select! {
                biased;
                // First: the connection breaks off then, too.
                _ = self.phase.wait_for(|phase| *phase >= over) => break Some(SHUTTING_DOWN),
                () = self.events.closed() => break Some(CLIENT_LEFT),
                // Before what comes: a server that never stops has its deadline, too.
                () = self.late.passed() => break None,
                frame = incoming.frame() => frame,
            };
            match frame {
                Some(Ok(frame)) => {
                    framer.push(frame.data_ref().map_or(&[][..], |data| data));
                    while let Some(frame) = framer.next_frame() {
                        if !self.event(frame).await {
                            return self.end(CLIENT_LEFT).await;
                        }
                    }
                }
                Some(Err(_)) => break Some("the server broke off its answer"),
                None => {
                    lease.give_back();
                    break Some("the server ended its answer without a response");
                }
            }
        };
        match reason {
            Some(reason) => self.end(reason).await,
            None => {
                for error in self.late.end(&self.conversation) {
                    let _ = self.events.send(sse_event(&error).into()).await;
                }
            }
        }
    }

    /// Requests without an answer get an error, unless the client can ask for the rest: then the
    /// answer is still to come, on another stream.
    async fn end(self, reason: &str) {
        if self.resumable && !self.late.is_modern {
            return self.late.leave_open(&self.conversation);
        }
        for id in &self.late.ids {
            if let Some(error) = self.conversation.give_up_on(id, Code::ServerGone, reason) {
                let _ = self.events.send(sse_event(&error).into()).await;
            }
        }
    }

    /// Passes an event on; false when nobody reads any more.
    async fn event(&mut self, frame: SseFrame) -> bool {
        let event = match frame {
            SseFrame::Event(event) => event,
            SseFrame::TooLong(beginning) => {
                let heard = self
                    .conversation
                    .overlong(stickler_protocol::Side::Server, Glimpse::of(&beginning));
                return self.pass(heard, None).await;
            }
        };
        self.resumable |= event.id.is_some();
        match event.data.clone().filter(|_| event.is_message) {
            Some(data) => {
                let data = Bytes::from(data);
                let heard = self.conversation.hear_whole(&data);
                self.pass(heard, Some((event, data))).await
            }
            None => self.events.send(event.raw.into()).await.is_ok(),
        }
    }

    async fn pass(&mut self, heard: Heard, event: Option<(SseEvent, Bytes)>) -> bool {
        self.conversation.send(heard.to_server);
        for message in heard.to_client {
            let address = Address::of(&message);
            let id = address.request_id(&message);
            if address.bearing == Bearing::Response {
                if let Some(index) = self.late.ids.iter().position(|one| Some(one) == id.as_ref()) {
                    self.late.ids.swap_remove(index);
                } else if self.conversation.mail().waits_for(id.as_ref()) {
                    // The answer to a call that has waited elsewhere.
                    self.conversation.deliver(vec![message]).await;
                    continue;
                }
            }
            let bytes = match &event {
                Some((event, data)) if *data == message => event.raw.clone(),
                Some((event, _)) => event.with_data(&message),
                None => sse_event(&message),
            };
            if self.events.send(bytes.into()).await.is_err() {
                return false;
            }
        }
        true
    }
}
