//! One client and one server: a gatekeeper, and those who wait for what it lets through.

mod alarm;
mod delivery;
mod heard;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use stickler::tape::{Node, TapeBuffer};
use stickler::{Code, Era, Revision};
use stickler_protocol::envelope::{Bearing, Glimpse, RequestId, mentions};
use stickler_protocol::frame::Frame;
use stickler_protocol::{Event, Gatekeeper, Side};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::Span;

use super::awake;
use super::letter::Letter;
use super::mail::{self, Mail, Waiter};
use super::opening::Opening;
use crate::footprint;
use crate::log::Log;
pub(super) use heard::{Heard, is_same_message};

/// The way to the server.
pub(super) trait Link: Send + Sync {
    /// Takes a message; never waits.
    fn send(&self, conversation: &Arc<Conversation>, message: Bytes);

    /// The headers of a request, for what is sent on its behalf.
    fn set_context(&self, _headers: &HeaderMap) {}

    /// Nothing is sent on anybody's behalf until the next request.
    fn rest(&self) {}
}

/// Which requests wait for mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// All: whatever answers them comes by another way.
    Always,
    /// Those that do not go on at once: the others get their answer where they go.
    IfHeld,
    /// None: all that comes goes the same way.
    Never,
}

/// A client, a server, and what is between them.
pub(super) struct Conversation {
    /// Apart, so that it is not moved with the rest: some conversations last for one message.
    gatekeeper: Mutex<Box<Gatekeeper>>,
    mail: Mutex<Mail>,
    link: Box<dyn Link>,
    /// The one way to a client that has only one.
    out: Option<mpsc::Sender<Bytes>>,
    log: Log,
    /// All conversations count from the same moment: they share what is learnt.
    started: Instant,
    /// The moment for which somebody is set to look.
    alarm: Mutex<Option<Duration>>,
    /// Streams that the client is opening.
    pub(super) opening: Opening,
}

/// What came of a POST.
pub(super) struct Posted {
    /// What its sender gets at once.
    pub(super) answers: Vec<Bytes>,
    /// What goes on to the server.
    pub(super) onward: Vec<Bytes>,
    /// The requests in it that nobody waits for here.
    pub(super) ids: Vec<RequestId>,
    /// Where the answers will come that are still to come.
    pub(super) mail: Option<Waiter>,
}

impl Conversation {
    pub(super) fn new(
        gatekeeper: Gatekeeper,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
    ) -> Arc<Self> {
        Arc::new(Self::with(gatekeeper, link, log, started, None))
    }

    /// With a client that reads everything in one place.
    pub(super) fn for_one(
        gatekeeper: Gatekeeper,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
        out: mpsc::Sender<Bytes>,
    ) -> Arc<Self> {
        Arc::new(Self::with(gatekeeper, link, log, started, Some(out)))
    }

    fn with(
        gatekeeper: Gatekeeper,
        link: Box<dyn Link>,
        log: Log,
        started: Instant,
        out: Option<mpsc::Sender<Bytes>>,
    ) -> Self {
        Self {
            gatekeeper: Mutex::new(Box::new(gatekeeper)),
            mail: Mutex::default(),
            link,
            out,
            log,
            started,
            alarm: Mutex::default(),
            opening: Opening::new(),
        }
    }

    fn gatekeeper(&self) -> MutexGuard<'_, Box<Gatekeeper>> {
        awake::lock(&self.gatekeeper)
    }

    /// A panic elsewhere left whole values behind; the conversation goes on.
    pub(super) fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges what a client has posted. Nothing is sent yet.
    pub(super) fn post(self: &Arc<Self>, letter: &Letter, streams: bool, waits: Waits) -> Posted {
        let body = &letter.body;
        let mut gatekeeper = self.gatekeeper();
        let outbox = gatekeeper.from_client(body, self.started.elapsed());
        let deadline = gatekeeper.next_deadline();
        let heard = Heard::of(&outbox, body);
        let onward = heard.to_server.iter().find(|onward| is_same_message(onward, body));
        let mut ids = match (letter.bearing(), onward) {
            // Perhaps not all of them go on.
            (Bearing::Batch, Some(onward)) => Letter::of(onward.clone()).requests(),
            (_, None) if !heard.to_client.is_empty() => Vec::new(),
            _ => letter.requests(),
        };
        let waits = waits == Waits::Always || (waits == Waits::IfHeld && onward.is_none());
        // Under the gatekeeper's lock: the answer may be on its way before anything else happens.
        let mail = (waits && !ids.is_empty()).then(|| {
            let token = if ids.len() == 1 { mail::progress_token(body) } else { None };
            self.mail().wait(std::mem::take(&mut ids), token.as_ref(), streams)
        });
        drop(gatekeeper);
        self.observe(&outbox.events, Some(body));
        self.keep_time(deadline);
        if letter.bearing() == Bearing::Notification {
            self.end_cancelled(body);
        }
        Posted { answers: heard.to_client, onward: heard.to_server, ids, mail }
    }

    /// Judges what the server has said. Nothing is sent yet.
    pub(super) fn hear(self: &Arc<Self>, frame: Frame<'_>) -> Heard {
        let mut gatekeeper = self.gatekeeper();
        let outbox = match frame {
            Frame::Line(line) => gatekeeper.from_server(line, self.started.elapsed()),
            Frame::TooLong { glimpse, .. } => gatekeeper.overlong(Side::Server, glimpse),
        };
        let deadline = gatekeeper.next_deadline();
        drop(gatekeeper);
        self.observe(&outbox.events, None);
        self.keep_time(deadline);
        Heard::copied(&outbox)
    }

    /// The same for bytes that need not be copied to be kept.
    pub(super) fn hear_whole(self: &Arc<Self>, body: &Bytes) -> Heard {
        let mut gatekeeper = self.gatekeeper();
        let outbox = gatekeeper.from_server(body, self.started.elapsed());
        let deadline = gatekeeper.next_deadline();
        drop(gatekeeper);
        self.observe(&outbox.events, None);
        self.keep_time(deadline);
        Heard::of(&outbox, body)
    }

    /// A message that is too long to be kept.
    pub(super) fn overlong(&self, sender: Side, glimpse: Glimpse) -> Heard {
        let outbox = self.gatekeeper().overlong(sender, glimpse);
        self.observe(&outbox.events, None);
        Heard::copied(&outbox)
    }

    /// An answer of our own to a question of our own.
    pub(super) fn hear_own(&self, message: &Bytes) -> Heard {
        let outbox = self.gatekeeper().answer_own(message, self.started.elapsed());
        self.observe(&outbox.events, None);
        Heard::copied(&outbox)
    }

    /// What the server is to be asked so that it tells when its tools change.
    pub(super) fn subscribe(&self) -> Vec<Bytes> {
        Heard::copied(&self.gatekeeper().subscribe()).to_server
    }

    /// Whether a subscription of our own is to be kept open.
    pub(super) fn wants_subscription(&self) -> bool {
        self.gatekeeper().wants_subscription()
    }

    /// How many requests of the client wait for an answer.
    pub(super) fn in_flight(&self) -> usize {
        self.gatekeeper().in_flight()
    }

    /// Gives back the memory that is not needed to go on. On behalf of a stream that is open,
    /// something may be sent at any time.
    pub(super) fn rest(&self, is_in_use: bool) {
        self.mail().rest();
        let mut gatekeeper = self.gatekeeper();
        gatekeeper.rest();
        let is_done = gatekeeper.in_flight() == 0 && gatekeeper.next_deadline().is_none();
        drop(gatekeeper);
        if is_done && !is_in_use {
            self.link.rest();
        }
    }

    /// The revision, once it has been said.
    pub(super) fn agreed_revision(&self) -> Option<Revision> {
        self.gatekeeper().agreed_revision()
    }

    /// Whether the server has accepted what the client asked to begin with.
    pub(super) fn is_open(&self) -> bool {
        self.gatekeeper().is_revision_settled()
    }

    /// The era, once it has been said.
    pub(super) fn era(&self) -> Option<Era> {
        self.agreed_revision().map(Revision::era)
    }

    /// The parent of events about the connection.
    pub(super) fn span(&self) -> &Span {
        self.log.span()
    }

    /// The server has given the session that the client opens its id.
    pub(super) fn set_session(&self, id: &str) {
        self.log.set_session(id);
    }

    /// One request will not be answered by the server: the error for it.
    pub(super) fn give_up_on(&self, id: &RequestId, code: Code, reason: &str) -> Option<Bytes> {
        self.gatekeeper().give_up_on(id, code, reason).map(Bytes::from)
    }

    /// The requests in a message will not be sent after all, and nobody is there to be told.
    pub(super) fn abandon(&self, message: &Bytes) {
        for id in Letter::of(message.clone()).requests() {
            self.give_up_on(&id, Code::ServerGone, "its client went away");
        }
    }

    /// What is sent on behalf of a request carries its headers.
    pub(super) fn set_context(&self, headers: &HeaderMap) {
        self.link.set_context(headers);
    }

    fn observe(&self, events: &[Event], from_client: Option<&[u8]>) {
        for event in events {
            self.log.event(event, from_client);
            footprint::observe(event);
        }
    }

    /// A POST whose request is cancelled has nothing to wait for.
    fn end_cancelled(&self, body: &[u8]) {
        let method = "notifications/cancelled";
        if !mentions(body, method) {
            return;
        }
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(body, 1 << 10) else { return };
        let root = tape.root();
        let is_cancel = root.get("method").and_then(Node::as_str).is_some_and(|one| one == method);
        let id = root.get("params").and_then(|params| params.get("requestId"));
        if is_cancel && let Some(id) = id.and_then(RequestId::of) {
            self.mail().cancel(&id);
        }
    }
}
