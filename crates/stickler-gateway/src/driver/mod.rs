//! Drives one protocol `Connection` over HTTP.
//!
//! A driver passes client and server messages to its connection and returns what the connection emits.
//! It correlates responses with waiting HTTP requests, schedules timeouts and logs events. It performs
//! no I/O: a `Link` sends messages to the server.

mod delivery;
pub(crate) mod message;
pub(crate) mod pending_responses;
mod stream_barrier;
mod timer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use stickler::{Code, Era, Revision};
use stickler_protocol::envelope::{PartialHeader, RequestId};
use stickler_protocol::frame::Frame;
use stickler_protocol::{Connection, Header, RequestContext, Side, Work};
use stickler_transport::Pipe;
use tokio::time::Instant;
use tracing::Span;

use crate::driver::message::{Message, Origin, Outgoing};
use crate::driver::pending_responses::{PendingResponses, ResponseReceiver};
use crate::driver::stream_barrier::StreamBarrier;
use crate::log::Log;
use crate::observe::emitted::{Payload, Received, of_message, of_outgoing};
use crate::work_pool::WorkPool;

/// The upstream side of a driver.
pub(crate) trait Link: Send + Sync {
    /// Sends a message to the server without blocking.
    fn send(&self, driver: &Arc<Driver>, message: Message);

    /// Sets the headers to use for messages that are sent on behalf of a request.
    fn set_context(&self, _headers: &HeaderMap) {}

    /// Discards those headers until the next request.
    fn clear_context(&self) {}

    /// Writes messages that were only queued so far.
    fn flush(&self) {}
}

/// Which requests of a POST wait in `PendingResponses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitPolicy {
    /// All requests: responses arrive on a shared channel.
    Always,
    /// Requests that are held back: forwarded ones receive their response on their own exchange.
    IfHeld,
    /// No requests: all messages for the client use its single output.
    Never,
}

/// The connection between one client and one server, with its pending responses.
pub(crate) struct Driver {
    /// Boxed so that moving the driver is cheap: some drivers handle a single message.
    connection: Mutex<Box<Connection>>,
    pending_responses: Mutex<PendingResponses>,
    link: Box<dyn Link>,
    pool: WorkPool,
    /// The output of a client that reads all messages from one place.
    out: Option<Arc<Pipe>>,
    log: Log,
    /// Common time origin of all drivers that share learned tools.
    started: Instant,
    /// The deadline for which a timeout task is scheduled.
    timer: Mutex<Option<Duration>>,
    /// Orders messages behind streams that the client is opening.
    pub(crate) stream_barrier: StreamBarrier,
}

/// The outcome of a POST.
pub(crate) struct PostOutcome {
    /// Responses that the gateway sends immediately.
    pub(crate) answers: Vec<Message>,
    /// Messages to forward to the server.
    pub(crate) to_server: Vec<Message>,
    /// Ids of the requests that do not wait in `PendingResponses`.
    pub(crate) ids: Vec<RequestId>,
    /// Receives the remaining responses.
    pub(crate) responses: Option<ResponseReceiver>,
}

impl Driver {
    pub(crate) fn new(
        connection: Connection,
        link: Box<dyn Link>,
        pool: &WorkPool,
        log: Log,
        started: Instant,
    ) -> Self {
        Self {
            pool: pool.clone(),
            connection: Mutex::new(Box::new(connection)),
            pending_responses: Mutex::default(),
            link,
            out: None,
            log: log.for_connection(),
            started,
            timer: Mutex::default(),
            stream_barrier: StreamBarrier::new(),
        }
    }

    /// Sets the output of a client that reads all messages from one place.
    pub(crate) fn with_output(self, out: Arc<Pipe>) -> Self {
        Self { out: Some(out), ..self }
    }

    /// Locks the connection, which does no work that takes long. Ignores poisoning: a panic leaves the state consistent.
    fn connection(&self) -> MutexGuard<'_, Box<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ignores poisoning: a panic elsewhere leaves the table consistent.
    pub(crate) fn pending_responses(&self) -> MutexGuard<'_, PendingResponses> {
        self.pending_responses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a client message. Sends nothing yet.
    pub(crate) fn post(
        self: &Arc<Self>,
        body: &Bytes,
        context: &RequestContext,
        streams: bool,
        policy: WaitPolicy,
    ) -> PostOutcome {
        let mut connection = self.connection();
        let actions = connection.handle_client(body, context, self.started.elapsed());
        let deadline = connection.poll_timeout();
        let mut outgoing = Outgoing::of(actions, body);
        let work = std::mem::take(&mut outgoing.work);
        let Outgoing { to_server, held, .. } = &outgoing;
        let forwarded = to_server.iter().find(|message| message.origin == Origin::Peer);
        let header = forwarded.map(|message| &message.header).or(held.as_ref()).cloned();
        let header = header.as_deref();
        let ids = || header.into_iter().flat_map(Header::requests).cloned().collect::<Vec<_>>();
        let mut ids = ids();
        let waits =
            policy == WaitPolicy::Always || (policy == WaitPolicy::IfHeld && forwarded.is_none());
        // Register under the connection's lock: the response may arrive immediately after.
        let responses = (waits && !ids.is_empty()).then(|| {
            let token = header.and_then(|header| header.progress_token.as_ref());
            self.pending_responses().register(std::mem::take(&mut ids), token, streams)
        });
        drop(connection);
        let trace = context.trace.as_ref();
        self.log.inject_context(&mut outgoing.to_server, trace);
        let received = Received { sender: Side::Client, message: Payload::Shared(body), trace };
        self.observe(Some(received), &outgoing);
        self.start_work(work);
        self.schedule_timeout(deadline);
        let cancelled =
            header.and_then(|header| header.cancels.as_ref()).or(outgoing.cancelled.as_ref());
        if let Some(cancelled) = cancelled {
            self.pending_responses().cancel(cancelled);
        }
        let Outgoing { to_client, to_server, .. } = outgoing;
        PostOutcome { answers: to_client, to_server, ids, responses }
    }

    /// Checks a frame from the server. Sends nothing yet.
    pub(crate) fn handle_server_frame(self: &Arc<Self>, frame: Frame<'_>) -> Outgoing {
        let message = match &frame {
            Frame::Line(line) => Some(Payload::Borrowed(line)),
            Frame::TooLong { .. } => None,
        };
        self.handle(message, |connection, now| {
            Outgoing::copied(match frame {
                Frame::Line(line) => connection.handle_server(line, now),
                Frame::TooLong { partial, .. } => {
                    connection.handle_oversized(Side::Server, partial)
                }
            })
        })
    }

    /// Checks a server message without copying its bytes. Sends nothing yet.
    pub(crate) fn handle_server_message(self: &Arc<Self>, body: &Bytes) -> Outgoing {
        self.handle(Some(Payload::Shared(body)), |connection, now| {
            Outgoing::of(connection.handle_server(body, now), body)
        })
    }

    /// Passes an input, such as a message from the server, to the connection, reports what it emits, starts its work
    /// and schedules its timeout.
    fn handle(
        self: &Arc<Self>,
        message: Option<Payload<'_>>,
        handle: impl FnOnce(&mut Connection, Duration) -> Outgoing,
    ) -> Outgoing {
        let mut connection = self.connection();
        let mut outgoing = handle(&mut connection, self.started.elapsed());
        let deadline = connection.poll_timeout();
        drop(connection);
        self.log.inject_context(&mut outgoing.to_server, None);
        let received = |message| Received { sender: Side::Server, message, trace: None };
        self.observe(message.map(received), &outgoing);
        self.start_work(std::mem::take(&mut outgoing.work));
        self.schedule_timeout(deadline);
        outgoing
    }

    /// Runs work on the pool and passes its outcome to the connection.
    fn start_work(self: &Arc<Self>, work: Vec<Work>) {
        for work in work {
            let driver = Arc::clone(self);
            tokio::spawn(async move {
                let done = driver.pool.run(work).await;
                let outgoing = driver.handle(None, |connection, now| {
                    Outgoing::copied(connection.handle_done(&done, now))
                });
                driver.dispatch(outgoing).await;
                driver.flush();
            });
        }
    }

    /// Handles a message that exceeds the size limit.
    pub(crate) fn handle_oversized(
        self: &Arc<Self>,
        sender: Side,
        partial: PartialHeader,
    ) -> Outgoing {
        self.handle(None, |connection, _| {
            Outgoing::copied(connection.handle_oversized(sender, partial))
        })
    }

    /// Handles the failure of a gateway request.
    pub(crate) fn gateway_request_failed(
        self: &Arc<Self>,
        id: &RequestId,
        reason: &str,
    ) -> Outgoing {
        self.handle(None, |connection, now| {
            Outgoing::copied(connection.gateway_request_failed(id, reason, now))
        })
    }

    /// Records an answer of a shared server that belongs to no known request: those of this connection do not wait for ever.
    pub(crate) fn note_unmatched_answer(self: &Arc<Self>) {
        self.handle(None, |connection, now| {
            connection.note_unmatched_answer(now);
            Outgoing::default()
        });
    }

    /// Returns the messages that subscribe to tool list changes.
    pub(crate) fn subscribe(&self) -> Vec<Message> {
        let outgoing = Outgoing::copied(self.connection().subscribe());
        self.observe(None, &outgoing);
        outgoing.to_server
    }

    /// Returns whether the gateway's tool list subscription must stay open.
    pub(crate) fn has_subscription(&self) -> bool {
        self.connection().has_subscription()
    }

    /// Returns whether a request of the client or of the gateway waits for its response.
    pub(crate) fn awaits(&self, id: &RequestId) -> bool {
        self.connection().awaits(id)
    }

    /// Returns whether calls wait for the tool list.
    pub(crate) fn has_held_calls(&self) -> bool {
        self.connection().has_held_calls()
    }

    /// Returns the number of client requests without a response.
    pub(crate) fn pending_requests(&self) -> usize {
        self.connection().pending_requests()
    }

    /// Releases memory that an idle session does not need. A session in use keeps its request headers,
    /// because gateway requests may be sent on behalf of an open stream.
    pub(crate) fn shrink(&self, is_in_use: bool) {
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
    pub(crate) fn agreed_revision(&self) -> Option<Revision> {
        self.connection().agreed_revision()
    }

    /// Returns whether the server has accepted the handshake.
    pub(crate) fn is_established(&self) -> bool {
        self.connection().is_revision_settled()
    }

    /// Returns the era of the negotiated revision, if any.
    pub(crate) fn era(&self) -> Option<Era> {
        self.agreed_revision().map(Revision::era)
    }

    /// Returns the parent span of the connection's events.
    pub(crate) fn span(&self) -> &Span {
        self.log.span()
    }

    /// Records the session id that the server assigned.
    pub(crate) fn set_session(&self, id: &str) {
        self.log.set_session(id);
    }

    /// Fails one request and returns the error response for it.
    pub(crate) fn abandon_request(
        &self,
        id: &RequestId,
        code: Code,
        reason: &str,
    ) -> Option<Message> {
        let message = self.connection().abandon_request(id, code, reason).map(Message::from)?;
        self.log.observe(None, std::iter::once(of_message(Side::Client, &message)));
        Some(message)
    }

    /// Fails the requests of a message that was not forwarded because its client disconnected.
    pub(crate) fn abandon(&self, header: &Header) {
        for id in header.requests() {
            self.abandon_request(id, Code::ServerGone, "the client disconnected");
        }
    }

    /// Sets the headers to use for messages that are sent on behalf of a request.
    pub(crate) fn set_context(&self, headers: &HeaderMap) {
        self.link.set_context(headers);
    }

    fn observe(&self, received: Option<Received<'_>>, outgoing: &Outgoing) {
        self.log.observe(received, of_outgoing(outgoing));
    }
}
