//! The gateway's mind: what goes where, decided without doing any of it.
//!
//! A [`ValidationMiddleware`] judges messages; a gatekeeper also acts on its own. It asks the server
//! for its tools when a call comes whose tools are not known or may have changed, and lets the call
//! wait for the answer; it announces and serves `toolValidation` for servers that do not. Messages
//! go in with the time, an [`Outbox`] comes out; whoever pumps bytes does the rest.

mod announce;
mod held;
mod outbox;
mod overdue;
mod own;
mod service;
mod settings;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

pub use outbox::{Event, Outbox};
pub use overdue::cancellation;
pub use settings::GatekeeperSettings;

use crate::arguments::McpValidator;
use crate::envelope::{Glimpse, RequestId};
use crate::headers::VERSION_KEY;
use crate::middleware::ValidationMiddleware;
use crate::protocol::Revision;
use crate::rules::{Code, MessageRule};
use crate::side::Side;
use crate::tape::TapeBuffer;
use crate::verdict::{Decision, Verdict};
use held::Held;
use own::{OwnRequests, Reply};

/// Stands between one client and one server.
#[derive(Debug)]
pub struct Gatekeeper {
    server: String,
    validator: Arc<McpValidator>,
    middleware: ValidationMiddleware,
    settings: GatekeeperSettings,
    own: OwnRequests,
    held: Held,
    /// The server has a validation of its own; ours stays silent.
    server_validates: bool,
    /// When it is next to be looked whether a request has waited for too long.
    overdue_at: Option<Duration>,
}

/// Whether a call has had its chance to be judged by a fresh list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Try {
    First,
    Last,
}

impl Gatekeeper {
    /// For one connection. The middleware brings policy, schemas and revision; its validator is the
    /// one whose cache is kept fresh.
    pub fn new(
        server: impl Into<String>,
        validator: Arc<McpValidator>,
        middleware: ValidationMiddleware,
        settings: GatekeeperSettings,
    ) -> Self {
        Self {
            server: server.into(),
            validator,
            middleware,
            settings,
            own: OwnRequests::default(),
            held: Held::default(),
            server_validates: false,
            overdue_at: None,
        }
    }

    /// A message from the client.
    pub fn from_client<'m>(&mut self, message: &'m [u8], now: Duration) -> Outbox<'m> {
        let mut out = Outbox::default();
        if !self.must_wait(message, now) {
            self.admit(Cow::Borrowed(message), now, Try::First, &mut out);
        } else if self.settings.holds {
            self.hold(message.to_vec(), now, &mut out);
        } else {
            self.admit(Cow::Borrowed(message), now, Try::Last, &mut out);
            self.ask(&mut out);
        }
        self.watch(now);
        out
    }

    /// A message from the server.
    pub fn from_server<'m>(&mut self, message: &'m [u8], now: Duration) -> Outbox<'m> {
        let mut out = Outbox::default();
        match self.own.recognise(message) {
            Some(reply) => self.learn(&reply, now, &mut out),
            None => self.pass_to_client(Cow::Borrowed(message), now, &mut out),
        }
        self.watch(now);
        out
    }

    /// A message that was too long to be kept, by what was seen of it.
    pub fn overlong(&mut self, sender: Side, glimpse: Glimpse) -> Outbox<'static> {
        let mut out = Outbox::default();
        let verdict = self.middleware.handle_overlong(sender, glimpse);
        out.settle(sender, verdict, Cow::Borrowed(&[]));
        out
    }

    /// How many requests of the client wait for an answer.
    pub fn in_flight(&mut self) -> usize {
        self.middleware.in_flight(Side::Client)
    }

    /// When [`timeout`](Self::timeout) wants to be called; `None` while nothing waits.
    pub fn next_deadline(&self) -> Option<Duration> {
        let deadlines = [self.held.deadline(), self.overdue_at];
        deadlines.into_iter().flatten().min()
    }

    /// Time has passed: calls that have waited long enough go on unchecked, and requests that have
    /// waited too long for their answer get an error.
    pub fn timeout(&mut self, now: Duration) -> Outbox<'static> {
        let mut out = Outbox::default();
        if self.held.deadline().is_some_and(|deadline| deadline <= now) {
            self.own.give_up(now);
            self.degrade("the server did not list its tools in time", &mut out);
            self.release(now, &mut out);
        }
        self.end_overdue(now, &mut out);
        self.watch(now);
        out
    }

    /// The server has gone: every request that waits is answered.
    pub fn server_gone(&mut self, code: Code, reason: &str, now: Duration) -> Outbox<'static> {
        let mut out = Outbox::default();
        self.own.give_up(now);
        self.release(now, &mut out);
        out.to_server.clear();
        let replies = self.middleware.abandon(Side::Client, code, reason);
        out.to_client.extend(replies.into_iter().map(Cow::Owned));
        out
    }

    /// A new server has taken the place of one that has gone: it is asked for its tools again, and
    /// what the old one had asked the client for is not passed on to it.
    pub fn server_replaced(&mut self) {
        self.own.forget_failure();
        self.validator.cache().mark_changed(&self.server);
        self.middleware.abandon(Side::Server, Code::ServerGone, "the server was started again");
    }

    /// One request will not be answered: the error for its sender. `None` when it does not wait.
    pub fn give_up_on(&mut self, id: &RequestId, code: Code, reason: &str) -> Option<Vec<u8>> {
        self.middleware.abandon_one(Side::Client, id, code, reason)
    }

    /// An answer that the gateway itself gives to a question of its own, because nobody else did.
    /// To anything else it is nothing.
    pub fn answer_own(&mut self, message: &[u8], now: Duration) -> Outbox<'static> {
        let mut out = Outbox::default();
        if let Some(reply) = self.own.recognise(message) {
            self.learn(&reply, now, &mut out);
        }
        out
    }

    /// The revision that the peers have agreed on or declared; `None` before, and for one that is
    /// not known here.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.middleware.agreed_revision()
    }

    /// The revision that is spoken, as far as it is known by now.
    pub fn revision(&self) -> Option<Revision> {
        self.middleware.revision()
    }

    /// Whether a message is a call that should wait until the tools are known.
    fn must_wait(&self, message: &[u8], now: Duration) -> bool {
        let mentions = |text: &[u8]| memchr::memmem::find(message, text).is_some();
        if !self.held.is_empty() {
            // What refers to a call that waits must not overtake it.
            return mentions(b"tools/call") || mentions(b"notifications/cancelled");
        }
        let freshness = self.validator.cache().freshness(&self.server);
        let known = freshness.is_some_and(|freshness| !freshness.is_stale(now));
        !known && mentions(b"tools/call") && self.can_ask(now)
    }

    /// Whether asking the server for its tools can come to something, now or after the handshake.
    fn can_ask(&self, now: Duration) -> bool {
        self.settings.learns
            && self.middleware.server_has_tools() != Some(false)
            && self.own.may_ask(now, self.settings.pause_after_failure)
    }

    fn hold(&mut self, message: Vec<u8>, now: Duration, out: &mut Outbox<'_>) {
        self.held.push(message, now.saturating_add(self.settings.longest_wait));
        self.ask(out);
    }

    /// Asks for the tools, unless the server is still about to say whether it has any.
    fn ask(&mut self, out: &mut Outbox<'_>) {
        let revision = self.own_revision();
        if self.middleware.server_has_tools() == Some(true)
            && let Some(request) = self.own.ask(revision, None)
        {
            out.to_server.push(Cow::Owned(request));
        }
    }

    /// The revision that our own questions are written in. The first request to speak for itself
    /// may be the one that waits for their answers.
    fn own_revision(&self) -> Option<Revision> {
        let waiting = self.held.first().filter(|_| !self.middleware.is_revision_settled());
        waiting.and_then(declared_revision).or_else(|| self.middleware.revision())
    }

    fn admit<'m>(
        &mut self,
        message: Cow<'m, [u8]>,
        now: Duration,
        which: Try,
        out: &mut Outbox<'m>,
    ) {
        let verdict = self.middleware.handle(Side::Client, &message, now);
        if which == Try::First && is_refused_by_a_list(&verdict) && self.list_is_old(now) {
            self.middleware.take_back_refusal();
            self.hold(message.into_owned(), now, out);
            return;
        }
        if self.is_for_us(&verdict) {
            let answer = self.serve(&message);
            if let Some(id) = &verdict.subject.id {
                self.middleware.settle(Side::Client, id);
            }
            out.to_client.extend(answer.map(Cow::Owned));
            out.events.push(Event::Judged { sender: Side::Client, verdict });
            return;
        }
        out.settle(Side::Client, verdict, message);
    }

    /// A list of a few seconds ago is as good as a new one.
    fn list_is_old(&self, now: Duration) -> bool {
        let freshness = self.validator.cache().freshness(&self.server);
        let age = freshness.map(|freshness| now.saturating_sub(freshness.learnt_at));
        age.is_some_and(|age| age > self.settings.fresh_enough) && self.can_ask(now)
    }

    fn pass_to_client<'m>(&mut self, message: Cow<'m, [u8]>, now: Duration, out: &mut Outbox<'m>) {
        let mut verdict = self.middleware.handle(Side::Server, &message, now);
        if verdict.decision == Decision::Forward
            && let Some(method) = verdict.subject.method.as_deref()
        {
            if method == "tools/list" {
                self.register_service();
            }
            if let Some(announced) = self.announce(method, &message) {
                verdict.decision = Decision::Rewrite(announced);
            }
        }
        let ended_handshake = verdict.subject.method.as_deref() == Some("initialize");
        out.settle(Side::Server, verdict, message);
        if ended_handshake && !self.held.is_empty() {
            match self.middleware.server_has_tools() {
                Some(true) => self.ask(out),
                _ => self.release(now, out),
            }
        }
    }

    /// An answer to a question of our own.
    fn learn(&mut self, reply: &Reply, now: Duration, out: &mut Outbox<'_>) {
        let known = (self.validator.cache(), &self.validator.config().limits);
        match self.own.learn(reply, known, &self.server, now) {
            own::Progress::NextPage(cursor) => {
                let request = self.own.ask(self.own_revision(), Some(&cursor));
                out.to_server.extend(request.map(Cow::Owned));
                return;
            }
            own::Progress::Learnt(discovery) => {
                self.register_service();
                out.events.push(Event::Learnt { discovery });
            }
            own::Progress::Failed(reason) => {
                self.own.give_up(now);
                self.degrade(&reason, out);
            }
        }
        self.release(now, out);
    }

    /// What is known can no longer be confirmed, so it refuses nothing.
    fn degrade(&mut self, reason: &str, out: &mut Outbox<'_>) {
        self.validator.cache().mark_changed(&self.server);
        out.events.push(Event::Degraded { reason: reason.to_owned() });
    }

    /// Whatever waits is judged by what is known now.
    fn release(&mut self, now: Duration, out: &mut Outbox<'_>) {
        for message in self.held.take() {
            self.admit(Cow::Owned(message), now, Try::Last, out);
        }
    }
}

/// The revision that a request says it is written in.
fn declared_revision(message: &[u8]) -> Option<Revision> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    let version = tape.root().get("params")?.get("_meta")?.get(VERSION_KEY)?;
    Revision::parse(&version.as_str()?)
}

fn is_refused_by_a_list(verdict: &Verdict) -> bool {
    let by_list = |rule| matches!(rule, MessageRule::UnknownTool | MessageRule::InvalidArguments);
    matches!(verdict.decision, Decision::Answer(_))
        && verdict.findings.iter().any(|finding| by_list(finding.rule))
}
