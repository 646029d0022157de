//! Drives one protocol `Connection` over HTTP.
//!
//! A driver passes client and server messages to its connection and returns what the connection emits.
//! It correlates responses with waiting HTTP requests, schedules timeouts and logs events. It performs
//! no I/O: a `Link` sends messages to the server.

mod delivery;
mod outgoing;
mod timer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use stickler::tape::{Node, TapeBuffer};
use stickler::{Code, Era, Revision};
use stickler_protocol::envelope::{MessageKind, PartialHeader, RequestId, may_contain};
use stickler_protocol::frame::Frame;
use stickler_protocol::{Connection, Event, Side};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::Span;

use super::inbound_message::InboundMessage;
use super::pending_responses::{PendingResponses, ResponseReceiver, progress_token};
use super::spin_lock;
use super::stream_barrier::StreamBarrier;
use crate::log::Log;
use crate::page_trimming;
pub(super) use outgoing::{Outgoing, is_same_message};

/// The upstream side of a driver.
pub(super) trait Link: Send + Sync {
    /// Sends a message to the server without blocking.
    fn send(&self, driver: &Arc<Driver>, message: Bytes);

    /// Sets the headers to use for messages that are sent on behalf of a request.
    fn set_context(&self, _headers: &HeaderMap) {}

    /// Discards those headers until the next request.
    fn clear_context(&self) {}
}

/// Which requests of a POST wait in `PendingResponses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitPolicy {
    /// All requests: responses arrive on a shared channel.
    Always,
    /// Requests that are held back: forwarded ones receive their response on their own exchange.
    IfHeld,
    /// No requests: all messages for the client use its single output.
    Never,
}

/// The connection between one client and one server, with its pending responses.
pub(super) struct Driver {
    /// Boxed so that moving the driver is cheap: some drivers handle a single message.
    connection: Mutex<Box<Connection>>,
    pending_responses: Mutex<PendingResponses>,
    link: Box<dyn Link>,
    /// The output of a client that reads all messages from one place.
    out: Option<mpsc::Sender<Bytes>>,
    log: Log,
    /// Common time origin of all drivers that share learned tools.
    started: Instant,
    /// The deadline for which a timeout task is scheduled.
    timer: Mutex<Option<Duration>>,
    /// Orders messages behind streams that the client is opening.
    pub(super) stream_barrier: StreamBarrier,
}

/// The outcome of a POST.
pub(super) struct PostOutcome {
    /// Responses that the gateway sends immediately.
    pub(super) answers: Vec<Bytes>,
    /// Messages to forward to the server.
    pub(super) to_server: Vec<Bytes>,
    /// Ids of the requests that do not wait in `PendingResponses`.
    pub(super) ids: Vec<RequestId>,
    /// Receives the remaining responses.
    pub(super) responses: Option<ResponseReceiver>,
}

impl Driver {
    pub(super) fn new(
        connection: Connection,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
    ) -> Arc<Self> {
        Arc::new(Self::build(connection, link, log, started, None))
    }

    /// Creates a driver for a client that reads all messages from one output.
    pub(super) fn with_single_output(
        connection: Connection,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
        out: mpsc::Sender<Bytes>,
    ) -> Arc<Self> {
        Arc::new(Self::build(connection, link, log, started, Some(out)))
    }

    fn build(
        connection: Connection,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
        out: Option<mpsc::Sender<Bytes>>,
    ) -> Self {
        Self {
            connection: Mutex::new(Box::new(connection)),
            pending_responses: Mutex::default(),
            link,
            out,
            log,
            started,
            timer: Mutex::default(),
            stream_barrier: StreamBarrier::new(),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Box<Connection>> {
        spin_lock::lock(&self.connection)
    }

    /// Ignores poisoning: a panic elsewhere leaves the table consistent.
    pub(super) fn pending_responses(&self) -> MutexGuard<'_, PendingResponses> {
        self.pending_responses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a client message. Sends nothing yet.
    pub(super) fn post(
        self: &Arc<Self>,
        inbound: &InboundMessage,
        streams: bool,
        policy: WaitPolicy,
    ) -> PostOutcome {
        let body = &inbound.body;
        let mut connection = self.connection();
        let outbox = connection.handle_client(body, self.started.elapsed());
        let deadline = connection.poll_timeout();
        let outgoing = Outgoing::of(&outbox, body);
        let forwarded = outgoing.to_server.iter().find(|message| is_same_message(message, body));
        let mut ids = match (inbound.kind(), forwarded) {
            // The connection may have rejected some requests of the batch.
            (MessageKind::Batch, Some(batch)) => InboundMessage::of(batch.clone()).requests(),
            (_, None) if !outgoing.to_client.is_empty() => Vec::new(),
            _ => inbound.requests(),
        };
        let waits =
            policy == WaitPolicy::Always || (policy == WaitPolicy::IfHeld && forwarded.is_none());
        // Register under the connection's lock: the response may arrive immediately after.
        let responses = (waits && !ids.is_empty()).then(|| {
            let token = if ids.len() == 1 { progress_token(body) } else { None };
            self.pending_responses().register(std::mem::take(&mut ids), token.as_ref(), streams)
        });
        drop(connection);
        self.observe(&outbox.events, Some(body));
        self.schedule_timeout(deadline);
        if inbound.kind() == MessageKind::Notification {
            self.release_cancelled(body);
        }
        PostOutcome { answers: outgoing.to_client, to_server: outgoing.to_server, ids, responses }
    }

    /// Checks a frame from the server. Sends nothing yet.
    pub(super) fn handle_server_frame(self: &Arc<Self>, frame: Frame<'_>) -> Outgoing {
        let mut connection = self.connection();
        let outbox = match frame {
            Frame::Line(line) => connection.handle_server(line, self.started.elapsed()),
            Frame::TooLong { partial, .. } => connection.handle_oversized(Side::Server, partial),
        };
        let deadline = connection.poll_timeout();
        drop(connection);
        self.observe(&outbox.events, None);
        self.schedule_timeout(deadline);
        Outgoing::copied(&outbox)
    }

    /// Checks a server message without copying its bytes. Sends nothing yet.
    pub(super) fn handle_server_message(self: &Arc<Self>, body: &Bytes) -> Outgoing {
        let mut connection = self.connection();
        let outbox = connection.handle_server(body, self.started.elapsed());
        let deadline = connection.poll_timeout();
        drop(connection);
        self.observe(&outbox.events, None);
        self.schedule_timeout(deadline);
        Outgoing::of(&outbox, body)
    }

    /// Handles a message that exceeds the size limit.
    pub(super) fn handle_oversized(&self, sender: Side, partial: PartialHeader) -> Outgoing {
        let outbox = self.connection().handle_oversized(sender, partial);
        self.observe(&outbox.events, None);
        Outgoing::copied(&outbox)
    }

    /// Handles a response that the gateway generated for a gateway request.
    pub(super) fn handle_gateway_response(&self, message: &Bytes) -> Outgoing {
        let outbox = self.connection().handle_gateway_response(message, self.started.elapsed());
        self.observe(&outbox.events, None);
        Outgoing::copied(&outbox)
    }

    /// Returns the messages that subscribe to tool list changes.
    pub(super) fn subscribe(&self) -> Vec<Bytes> {
        Outgoing::copied(&self.connection().subscribe()).to_server
    }

    /// Returns whether the gateway's tool list subscription must stay open.
    pub(super) fn has_subscription(&self) -> bool {
        self.connection().has_subscription()
    }

    /// Returns the number of client requests without a response.
    pub(super) fn pending_requests(&self) -> usize {
        self.connection().pending_requests()
    }

    /// Releases memory that an idle session does not need. A session in use keeps its request headers,
    /// because gateway requests may be sent on behalf of an open stream.
    pub(super) fn shrink(&self, is_in_use: bool) {
        self.pending_responses().shrink();
        let mut connection = self.connection();
        connection.shrink();
        let is_done = connection.pending_requests() == 0 && connection.poll_timeout().is_none();
        drop(connection);
        if is_done && !is_in_use {
            self.link.clear_context();
        }
    }

    /// Returns the negotiated revision, if any.
    pub(super) fn agreed_revision(&self) -> Option<Revision> {
        self.connection().agreed_revision()
    }

    /// Returns whether the server has accepted the handshake.
    pub(super) fn is_established(&self) -> bool {
        self.connection().is_revision_settled()
    }

    /// Returns the era of the negotiated revision, if any.
    pub(super) fn era(&self) -> Option<Era> {
        self.agreed_revision().map(Revision::era)
    }

    /// Returns the parent span of the connection's events.
    pub(super) fn span(&self) -> &Span {
        self.log.span()
    }

    /// Records the session id that the server assigned.
    pub(super) fn set_session(&self, id: &str) {
        self.log.set_session(id);
    }

    /// Fails one request and returns the error response for it.
    pub(super) fn abandon_request(
        &self,
        id: &RequestId,
        code: Code,
        reason: &str,
    ) -> Option<Bytes> {
        self.connection().abandon_request(id, code, reason).map(Bytes::from)
    }

    /// Fails the requests of a message that was not forwarded because its client disconnected.
    pub(super) fn abandon(&self, message: &Bytes) {
        for id in InboundMessage::of(message.clone()).requests() {
            self.abandon_request(&id, Code::ServerGone, "the client disconnected");
        }
    }

    /// Sets the headers to use for messages that are sent on behalf of a request.
    pub(super) fn set_context(&self, headers: &HeaderMap) {
        self.link.set_context(headers);
    }

    fn observe(&self, events: &[Event], from_client: Option<&[u8]>) {
        for event in events {
            self.log.event(event, from_client);
            page_trimming::observe(event);
        }
    }

    /// Ends the POST of a request that a notification cancels.
    fn release_cancelled(&self, body: &[u8]) {
        let method = "notifications/cancelled";
        if !may_contain(body, method) {
            return;
        }
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(body, 1 << 10) else { return };
        let root = tape.root();
        let is_cancel = root.get("method").and_then(Node::as_str).is_some_and(|one| one == method);
        let id = root.get("params").and_then(|params| params.get("requestId"));
        if is_cancel && let Some(id) = id.and_then(RequestId::of) {
            self.pending_responses().cancel(&id);
        }
    }
}
