//! Modern requests in front of a command: all of them share one server process.
//!
//! Ids belong to one POST, so two clients may use the same. On the shared pipe each request gets a
//! number of its own in the place of its id and of its progress token; what comes back is given the
//! original ones again. Nothing else of a message is changed, and a message that names no number is
//! nobody's: it could be about somebody else's request.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use stickler::tape::TapeBuffer;
use stickler::{Code, Revision};
use stickler_protocol::Gatekeeper;
use stickler_protocol::envelope::{Address, Glimpse};
use stickler_protocol::frame::Frame;
use stickler_protocol::headers::Mirrors;
use stickler_transport::Backoff;
use tokio::time::Instant;
use tracing::warn;

use super::body::OnDrop;
use super::conversation::{Conversation, Link};
use super::dialled::{Dialled, Found};
use super::numbering::{self, Numbered, Numbers};
use super::process::{self, Listener, Process};
use super::sessions::{NoSession, Sessions};
use super::views::{VIEWS, View, Views};
use crate::log::Log;

/// A reader that is slower than this holds everybody else up.
const PATIENCE: Duration = Duration::from_secs(1);

/// So long it has to read why its request was given up.
const FAREWELL: Duration = Duration::from_secs(30);

/// The way to the shared server, which is started when it is first needed.
pub(super) struct Switchboard {
    sessions: Arc<Sessions>,
    line: tokio::sync::Mutex<Current>,
}

/// The line that there is, and what is known of those before it.
struct Current {
    line: Option<Arc<Line>>,
    backoff: Backoff,
    /// When the next server may be started.
    not_before: Option<Instant>,
    is_given_up: bool,
}

impl Current {
    /// A server that has failed is not started again at once.
    fn look_back(&mut self, log: &Log) {
        let Some((ran_for, moment)) = self.line.take().and_then(|line| line.process.failure())
        else {
            return;
        };
        match self.backoff.next(ran_for) {
            Some(pause) => {
                let (start, seconds) = (self.backoff.failures(), pause.as_secs_f64());
                warn!(
                    parent: log.span(),
                    "the server failed; start {start} of a new one in {seconds} s"
                );
                self.not_before = Some(moment + pause);
            }
            None => self.is_given_up = self.backoff.is_limited(),
        }
    }
}

/// A server process that many share.
pub(super) struct Line {
    process: Arc<Process>,
    sessions: Arc<Sessions>,
    routes: Mutex<Dialled<Route>>,
    next: AtomicU64,
    /// Judges what belongs to nobody, and subscribes to changes of the tools on behalf of all.
    own: Arc<Conversation>,
    is_subscribed: AtomicBool,
    /// This process, and what it is to clients that can do different things.
    view: Arc<View>,
    views: Views,
}

/// Whose a number is.
#[derive(Clone)]
struct Route {
    conversation: Arc<Conversation>,
    original: Numbered,
    /// It is a subscription, and no request that the server works on.
    listens: bool,
}

/// A message of the server's, and whose it is.
struct Connected {
    conversation: Arc<Conversation>,
    message: Bytes,
    number: u64,
    /// With it the server ends a subscription.
    is_end: bool,
}

impl Switchboard {
    pub(super) fn new(sessions: Arc<Sessions>) -> Self {
        let backoff = Backoff::new(sessions.restart);
        let current = Current { line: None, backoff, not_before: None, is_given_up: false };
        Self { sessions, line: tokio::sync::Mutex::new(current) }
    }

    /// The line to a server that runs.
    pub(super) async fn line(&self) -> Result<Arc<Line>, NoSession> {
        loop {
            let mut current = self.line.lock().await;
            if let Some(line) = current.line.as_ref().filter(|line| !line.process.is_ending()) {
                let has_room = line.routes().has_room();
                return if has_room { Ok(Arc::clone(line)) } else { Err(NoSession::Full) };
            }
            current.look_back(&self.sessions.log);
            if current.is_given_up {
                return Err(NoSession::GivenUp(current.backoff.failures()));
            }
            let Some(moment) = current.not_before.filter(|moment| *moment > Instant::now()) else {
                return self.start(&mut current);
            };
            drop(current);
            tokio::time::sleep_until(moment).await;
        }
    }

    fn start(&self, current: &mut Current) -> Result<Arc<Line>, NoSession> {
        let sessions = &self.sessions;
        let permit = Arc::clone(&sessions.children).try_acquire_owned();
        let permit = permit.map_err(|_| NoSession::Full)?;
        let (process, stdout) =
            Process::start(&sessions.command, sessions.grace, permit, sessions.log.span())
                .map_err(NoSession::Failed)?;
        let opened = Arc::new_cyclic(|line| {
            let recipe = &sessions.recipe;
            let view = sessions.next_view();
            let subscriber = recipe.subscriber(&view.name, Some(Revision::LATEST));
            Line {
                view,
                views: Views::new(VIEWS),
                process: Arc::clone(&process),
                sessions: Arc::clone(sessions),
                routes: Mutex::default(),
                next: AtomicU64::new(1),
                own: conversation(sessions, subscriber, Box::new(OfLine(Weak::clone(line)))),
                is_subscribed: AtomicBool::new(false),
            }
        });
        let limit_and_log = (sessions.recipe.message_bytes(), sessions.log.clone());
        tokio::spawn(process::listen(process, stdout, Arc::clone(&opened), limit_and_log));
        current.line = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Ends the server.
    pub(super) async fn close(&self) {
        let line = self.line.lock().await.line.take();
        if let Some(line) = line {
            line.process.end().await;
            line.gone("the gateway is shutting down").await;
        }
    }
}

impl Line {
    /// A conversation for one POST, and what is to happen when its client goes away.
    pub(super) fn converse(
        self: &Arc<Self>,
        can_do: u64,
        mirrors: Mirrors,
    ) -> (Arc<Conversation>, OnDrop) {
        let dialled: Numbers = Arc::new(Mutex::new(Some(Vec::new())));
        let view = self.views.get(&self.view, can_do);
        let recipe = &self.sessions.recipe;
        let gatekeeper = recipe.for_request(&view.name, Some(Revision::LATEST), mirrors);
        let (board, numbers) = (Arc::clone(self), Arc::clone(&dialled));
        let link = Box::new(ToLine { line: board, dialled: numbers, _view: view });
        let conversation = conversation(&self.sessions, gatekeeper, link);
        let (shared, kept) = (Arc::clone(self), Arc::clone(&conversation));
        let hang_up = move || {
            // Until now somebody may have waited for it.
            drop(kept);
            let dialled = dialled.lock().unwrap_or_else(PoisonError::into_inner).take();
            for number in dialled.into_iter().flatten() {
                shared.hang_up(number);
            }
        };
        (conversation, OnDrop(Some(Box::new(hang_up))))
    }

    pub(super) async fn room(&self) {
        self.process.pipe.room().await;
    }

    fn routes(&self) -> MutexGuard<'_, Dialled<Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closing the stream is how a client cancels. Numbers are not used again, so a late answer
    /// finds nobody.
    fn hang_up(&self, number: u64) {
        let was_open = self.routes().hang_up(number, |route| route.listens);
        if was_open {
            self.process.pipe.send(numbering::cancellation(number).into());
        }
    }

    fn dial(&self, conversation: &Arc<Conversation>, message: &[u8]) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 10).ok()?;
        let Some((numbered, original)) = numbering::outward(&tape, number) else {
            // Without an id there is nothing to mix up, unless it names a request.
            if !numbering::is_cancellation(&tape) {
                self.process.pipe.send(Bytes::copy_from_slice(message));
            }
            return None;
        };
        let listens = Address::of(message).has_method(message, "subscriptions/listen");
        let route = Route { conversation: Arc::clone(conversation), original, listens };
        let can_be_answered = self.routes().insert(number, route);
        if !can_be_answered {
            // It has waited until the server was gone; whoever asked is told.
            conversation.mail().close();
            return None;
        }
        self.process.pipe.send(numbered.into());
        Some(number)
    }

    /// What a message of the server's is for its reader, and who that is. `Err` when it is nobody's.
    fn connect(&self, message: &[u8]) -> Result<Option<Connected>, ()> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 10).map_err(|_| ())?;
        let (number, is_last) = numbering::number_of(&tape).ok_or(())?;
        let is_cancelled = numbering::is_cancellation(&tape);
        let found = self.routes().find(number, is_last && !is_cancelled);
        match found {
            Found::Open(Route { conversation, original, listens }) => {
                let message = numbering::inward(&tape, &original).into();
                // Only subscriptions are ended so; whoever waits for something else still does.
                let is_end = is_cancelled && listens;
                if is_end {
                    self.routes().find(number, true);
                }
                Ok(Some(Connected { conversation, message, number, is_end }))
            }
            Found::HungUp => Ok(None),
            Found::Unknown => Err(()),
        }
    }

    /// A message that names nobody. Where one client is alone with the server, it is for that one.
    fn only_reader(&self) -> Option<(Arc<Conversation>, u64)> {
        let works = |route: &Route| !route.listens && !Arc::ptr_eq(&route.conversation, &self.own);
        self.routes()
            .only(std::time::Instant::now(), works)
            .map(|(number, route)| (route.conversation, number))
    }

    /// Once somebody has learnt the tools, the server is asked to tell when they change.
    fn subscribe(&self) {
        if !self.is_subscribed.load(Ordering::Relaxed) {
            let request = self.own.subscribe();
            self.is_subscribed.fetch_or(!request.is_empty(), Ordering::Relaxed);
            self.own.send(request);
        }
    }

    /// Whoever waits for an answer that cannot be read is told; false if it was no such message.
    async fn answer_for(&self, message: &[u8]) -> bool {
        let mut buffer = TapeBuffer::new();
        let is_readable = buffer.read(message, 1 << 10).is_ok();
        !is_readable && self.fail(&Glimpse::of(message), "its answer cannot be read").await
    }

    /// An answer of which no more than the id could be seen.
    async fn fail(&self, glimpse: &Glimpse, reason: &str) -> bool {
        let Some(number) = numbering::number_in(glimpse) else { return false };
        let found = self.routes().find(number, true);
        let Found::Open(route) = found else { return false };
        tell_end(&route.conversation, Code::Protocol, reason, PATIENCE).await;
        true
    }

    async fn pass(&self, conversation: &Arc<Conversation>, message: &Bytes, number: u64) {
        let heard = conversation.hear_whole(message);
        let passing = Arc::clone(conversation);
        let mut passing = Box::pin(async move { passing.pass(heard).await });
        if tokio::time::timeout(PATIENCE, &mut passing).await.is_err() {
            let reason = "the client reads too slowly for a server that others share";
            warn!(parent: conversation.span(), "a request is given up: {reason}");
            self.hang_up(number);
            let conversation = Arc::clone(conversation);
            tokio::spawn(async move {
                // It may have been the answer.
                let _ = tokio::time::timeout(FAREWELL, passing).await;
                tell_end(&conversation, Code::Timeout, reason, FAREWELL).await;
            });
        }
        self.subscribe();
    }
}

impl Listener for Arc<Line> {
    async fn line(&self, frame: Frame<'_>) {
        let Frame::Line(message) = frame else {
            // Whose answer it was has been seen in passing.
            let Frame::TooLong { glimpse, .. } = frame else { return };
            self.fail(&glimpse, "its answer is too large").await;
            return;
        };
        match self.connect(message) {
            Ok(Some(Connected { conversation, message, number, is_end })) => {
                self.pass(&conversation, &message, number).await;
                if is_end {
                    conversation.mail().close();
                }
            }
            Ok(None) => {}
            Err(()) if self.answer_for(message).await => drop(self.own.hear(frame)),
            Err(()) => match self.only_reader().filter(|_| numbering::is_log(message)) {
                Some((conversation, number)) => {
                    self.pass(&conversation, &Bytes::copy_from_slice(message), number).await;
                }
                None => drop(self.own.hear(frame)),
            },
        }
    }

    async fn gone(&self, reason: &str) {
        let routes = self.routes().take_all();
        let told = routes.into_iter().map(|route| {
            let reason = reason.to_owned();
            tokio::spawn(async move {
                tell_end(&route.conversation, Code::ServerGone, &reason, PATIENCE).await;
            })
        });
        for one in told.collect::<Vec<_>>() {
            let _ = one.await;
        }
    }
}

/// Through the switchboard.
struct ToLine {
    line: Arc<Line>,
    dialled: Numbers,
    /// What is learnt for it is kept until it is over.
    _view: Arc<View>,
}

impl Link for ToLine {
    fn send(&self, conversation: &Arc<Conversation>, message: Bytes) {
        let mut dialled = self.dialled.lock().unwrap_or_else(PoisonError::into_inner);
        // What has waited for too long for its client is not sent any more.
        if let Some(dialled) = dialled.as_mut() {
            dialled.extend(self.line.dial(conversation, &message));
        }
    }
}

/// For what the line itself asks: no client goes away from it.
struct OfLine(Weak<Line>);

impl Link for OfLine {
    fn send(&self, conversation: &Arc<Conversation>, message: Bytes) {
        if let Some(line) = self.0.upgrade() {
            line.dial(conversation, &message);
        }
    }
}

/// Tells a client that nothing more will come. One that does not read holds nobody up.
async fn tell_end(conversation: &Arc<Conversation>, code: Code, reason: &str, patience: Duration) {
    if tokio::time::timeout(patience, conversation.end(code, reason)).await.is_err() {
        conversation.mail().close();
    }
}

fn conversation(
    sessions: &Sessions,
    gatekeeper: Gatekeeper,
    link: Box<dyn Link>,
) -> Arc<Conversation> {
    Conversation::new(gatekeeper, link, sessions.log.clone(), sessions.started)
}
