//! One client and one server: a gatekeeper, and those who wait for what it lets through.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use stickler::envelope::{Address, Bearing, Glimpse, RequestId};
use stickler::frame::Frame;
use stickler::tape::{Node, TapeBuffer};
use stickler::{Code, Era, Event, Gatekeeper, Outbox, Revision, Side};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::mail::{self, Mail, Parcel, Route, Waiter};
use super::opening::Opening;
use super::streams::{Streams, Unread};
use crate::gateway::log::{Level, Log};

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
    gatekeeper: Mutex<Gatekeeper>,
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
    /// Where the answers will come that are still to come.
    pub(super) mail: Option<Waiter>,
}

/// What came of a message of the server's.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) to_client: Vec<Bytes>,
    pub(super) to_server: Vec<Bytes>,
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
            gatekeeper: Mutex::new(gatekeeper),
            mail: Mutex::default(),
            link,
            out,
            log,
            started,
            alarm: Mutex::default(),
            opening: Opening::new(),
        }
    }

    /// A panic elsewhere left whole values behind; the conversation goes on.
    fn gatekeeper(&self) -> MutexGuard<'_, Gatekeeper> {
        self.gatekeeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges what a client has posted. Nothing is sent yet.
    pub(super) fn post(self: &Arc<Self>, body: &Bytes, streams: bool, waits: Waits) -> Posted {
        let address = Address::of(body);
        let mut ids = match address.bearing {
            Bearing::Request => address.request_id(body).into_iter().collect(),
            Bearing::Batch => mail::ids_in(body, |one| one.get("method").is_some()),
            _ => Vec::new(),
        };
        let token = if ids.len() == 1 { mail::progress_token(body) } else { None };
        let mut gatekeeper = self.gatekeeper();
        let outbox = gatekeeper.from_client(body, self.started.elapsed());
        let deadline = gatekeeper.next_deadline();
        let heard = Heard::of(&outbox, body);
        match address.bearing {
            Bearing::Request if !heard.to_client.is_empty() => ids.clear(),
            Bearing::Batch => {
                let done: Vec<RequestId> =
                    heard.to_client.iter().flat_map(|one| answered(one)).collect();
                ids.retain(|id| !done.contains(id));
            }
            _ => {}
        }
        let goes_on = || heard.to_server.iter().any(|onward| is_same_message(onward, body));
        if waits == Waits::Never || (waits == Waits::IfHeld && goes_on()) {
            ids.clear();
        }
        // Under the gatekeeper's lock: the answer may be on its way before anything else happens.
        let mail = (!ids.is_empty()).then(|| self.mail().wait(ids, token.as_ref(), streams));
        drop(gatekeeper);
        self.observe(&outbox.events);
        self.keep_time(deadline);
        if address.bearing == Bearing::Notification {
            self.end_cancelled(body);
        }
        Posted { answers: heard.to_client, onward: heard.to_server, mail }
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
        self.observe(&outbox.events);
        self.keep_time(deadline);
        Heard::copied(&outbox)
    }

    /// The same for bytes that need not be copied to be kept.
    pub(super) fn hear_whole(self: &Arc<Self>, body: &Bytes) -> Heard {
        let mut gatekeeper = self.gatekeeper();
        let outbox = gatekeeper.from_server(body, self.started.elapsed());
        let deadline = gatekeeper.next_deadline();
        drop(gatekeeper);
        self.observe(&outbox.events);
        self.keep_time(deadline);
        Heard::of(&outbox, body)
    }

    /// A message that is too long to be kept.
    pub(super) fn overlong(&self, sender: Side, glimpse: Glimpse) -> Heard {
        let outbox = self.gatekeeper().overlong(sender, glimpse);
        self.observe(&outbox.events);
        Heard::copied(&outbox)
    }

    /// An answer of our own to a question of our own.
    pub(super) fn hear_own(&self, message: &Bytes) -> Heard {
        let outbox = self.gatekeeper().answer_own(message, self.started.elapsed());
        self.observe(&outbox.events);
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

    /// Gives back the memory that is not needed to go on.
    pub(super) fn rest(&self) {
        self.mail().rest();
        let mut gatekeeper = self.gatekeeper();
        gatekeeper.rest();
        let is_done = gatekeeper.in_flight() == 0 && gatekeeper.next_deadline().is_none();
        drop(gatekeeper);
        if is_done {
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

    pub(super) fn say(&self, level: Level, text: &str) {
        self.log.say(level, text);
    }

    /// One request will not be answered by the server: the error for it.
    pub(super) fn give_up_on(&self, id: &RequestId, code: Code, reason: &str) -> Option<Bytes> {
        self.gatekeeper().give_up_on(id, code, reason).map(Bytes::from)
    }

    /// The requests in a message will not be sent after all, and nobody is there to be told.
    pub(super) fn abandon(&self, message: &[u8]) {
        for id in mail::requests_in(message) {
            self.give_up_on(&id, Code::ServerGone, "its client went away");
        }
    }

    /// The server has gone: everybody is told.
    pub(super) async fn server_gone(self: &Arc<Self>, reason: &str) {
        self.log.say(Level::Info, reason);
        let now = self.started.elapsed();
        let heard = {
            let outbox = self.gatekeeper().server_gone(Code::ServerGone, reason, now);
            self.observe(&outbox.events);
            Heard::copied(&outbox)
        };
        self.deliver(heard.to_client).await;
        self.mail().close();
    }

    /// Sends what was heard where it belongs. Waits for readers that are slow.
    pub(super) async fn pass(self: &Arc<Self>, heard: Heard) {
        self.send(heard.to_server);
        self.deliver(heard.to_client).await;
    }

    /// Sends messages to the server.
    pub(super) fn send(self: &Arc<Self>, messages: Vec<Bytes>) {
        for message in messages {
            self.link.send(self, message);
        }
    }

    pub(super) async fn deliver(&self, messages: Vec<Bytes>) {
        for message in messages {
            if let Some(out) = &self.out {
                // A client that reads no more is noticed where its input ends.
                let _ = out.send(message).await;
                continue;
            }
            let route = self.mail().route(message);
            let is_delivered = match route {
                Route::Reader(stream, sender, parcel) => {
                    self.hand_over(stream, sender, parcel).await
                }
                Route::Kept => true,
                Route::Nobody => false,
            };
            let lost = self.mail().streams().map_or(0, Streams::take_lost);
            for _ in 0..lost + usize::from(!is_delivered) {
                self.log.say(Level::Info, "a message from the server found nobody to read it");
            }
        }
    }

    /// Gives something to the reader of a stream; false if nobody can come for it any more.
    async fn hand_over(
        &self,
        stream: u64,
        mut sender: mpsc::Sender<Parcel>,
        mut parcel: Parcel,
    ) -> bool {
        loop {
            let room = sender.clone().reserve_owned().await;
            // Readers go and come back under this lock, so nothing is put where nobody looks.
            let mut mail = self.mail();
            if let Ok(room) = room
                && !sender.is_closed()
            {
                room.send(parcel);
                return true;
            }
            match mail.take_back(stream, parcel) {
                Unread::Kept => return true,
                Unread::Lost => return false,
                // Its client has come back meanwhile.
                Unread::HandOver(other, unread) => (sender, parcel) = (other, unread),
            }
        }
    }

    /// What is sent on behalf of a request carries its headers.
    pub(super) fn set_context(&self, headers: &HeaderMap) {
        self.link.set_context(headers);
    }

    fn observe(&self, events: &[Event]) {
        for event in events {
            self.log.event(event);
        }
    }

    /// Sees to it that nobody waits for ever.
    fn keep_time(self: &Arc<Self>, deadline: Option<Duration>) {
        let Some(deadline) = deadline else { return };
        {
            let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
            if alarm.is_some_and(|alarm| alarm <= deadline) {
                return;
            }
            *alarm = Some(deadline);
        }
        let conversation = Arc::downgrade(self);
        let moment = self.started + deadline;
        tokio::spawn(async move {
            tokio::time::sleep_until(moment).await;
            if let Some(conversation) = conversation.upgrade() {
                conversation.time_out(deadline).await;
            }
        });
    }

    async fn time_out(self: &Arc<Self>, alarm: Duration) {
        {
            let mut set = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
            // An earlier moment may have been set since; then that one is not ours to forget.
            set.take_if(|set| *set == alarm);
        }
        let (heard, next) = {
            let mut gatekeeper = self.gatekeeper();
            let outbox = gatekeeper.timeout(self.started.elapsed());
            let next = gatekeeper.next_deadline();
            drop(gatekeeper);
            self.observe(&outbox.events);
            (Heard::copied(&outbox), next)
        };
        self.keep_time(next);
        self.pass(heard).await;
    }

    /// A POST whose request is cancelled has nothing to wait for.
    fn end_cancelled(&self, body: &[u8]) {
        let method = "notifications/cancelled";
        if memchr::memmem::find(body, method.as_bytes()).is_none() {
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

impl Heard {
    /// What came is kept without copying where it goes on as it is.
    fn of(outbox: &Outbox<'_>, source: &Bytes) -> Self {
        let keep = |message: &Cow<'_, [u8]>| match message {
            Cow::Borrowed(bytes) => source.slice_ref(bytes),
            Cow::Owned(bytes) => Bytes::copy_from_slice(bytes),
        };
        Self {
            to_client: outbox.to_client.iter().map(keep).collect(),
            to_server: outbox.to_server.iter().map(keep).collect(),
        }
    }

    fn copied(outbox: &Outbox<'_>) -> Self {
        let copy = |message: &Cow<'_, [u8]>| Bytes::copy_from_slice(message);
        Self {
            to_client: outbox.to_client.iter().map(copy).collect(),
            to_server: outbox.to_server.iter().map(copy).collect(),
        }
    }
}

/// Whether what goes on is what came, perhaps changed.
pub(super) fn is_same_message(onward: &[u8], body: &[u8]) -> bool {
    if std::ptr::eq(onward, body) {
        return true;
    }
    let (one, other) = (Address::of(onward), Address::of(body));
    one.bearing == other.bearing && one.request_id(onward) == other.request_id(body)
}

/// The requests that an answer answers.
fn answered(message: &[u8]) -> Vec<RequestId> {
    let address = Address::of(message);
    match address.bearing {
        Bearing::Batch => mail::answered(message),
        _ => address.request_id(message).into_iter().collect(),
    }
}
