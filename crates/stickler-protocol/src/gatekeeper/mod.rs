//! The gateway's mind: what goes where, decided without doing any of it.
//!
//! A [`ValidationMiddleware`] judges messages; a gatekeeper also acts on its own. It asks the server
//! for its tools when a call comes whose tools are not known or may have changed, and lets the call
//! wait for the answer; it announces and serves `toolValidation` for servers that do not. Messages
//! go in with the time, an [`Outbox`] comes out; whoever pumps bytes does the rest.

mod amends;
mod announce;
mod answers;
mod held;
mod outbox;
mod overdue;
mod own;
mod service;
mod settings;
mod subscription;
mod waiting;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler::McpValidator;
use stickler::rules::Code;
use stickler::tool_validation::ToolValidationCapability;

pub use outbox::{Event, Outbox};
pub use overdue::cancellation;
pub use settings::GatekeeperSettings;
pub use subscription::is_own_subscription;

use crate::envelope::{Glimpse, RequestId};
use crate::headers::Mirrors;
use crate::middleware::ValidationMiddleware;
use crate::protocol::Revision;
use crate::side::Side;
use crate::verdict::{Decision, Part};
use answers::Answers;
use held::Held;
use own::OwnRequests;
use subscription::Subscription;
use waiting::{is_by_list, is_of_unknown_tool, raise_doubts};

/// Stands between one client and one server.
#[derive(Debug)]
pub struct Gatekeeper {
    server: Arc<str>,
    validator: Arc<McpValidator>,
    middleware: ValidationMiddleware,
    settings: Arc<GatekeeperSettings>,
    own: OwnRequests,
    subscription: Subscription,
    held: Held,
    /// What the client can do, as the last of its calls that had to wait has said.
    capabilities: Option<Value>,
    /// Headers that came with the message and repeat arguments of it.
    mirrors: Option<Mirrors>,
    /// The server has a validation of its own; ours stays silent.
    server_validates: bool,
    /// What that validation can do.
    deep: Option<ToolValidationCapability>,
    answers: Answers,
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
        server: impl Into<Arc<str>>,
        validator: Arc<McpValidator>,
        middleware: ValidationMiddleware,
        settings: impl Into<Arc<GatekeeperSettings>>,
    ) -> Self {
        let settings = settings.into();
        Self {
            server: server.into(),
            validator,
            middleware,
            own: OwnRequests::new(settings.first_number),
            subscription: Subscription::new(settings.first_number),
            settings,
            held: Held::default(),
            capabilities: None,
            mirrors: None,
            server_validates: false,
            deep: None,
            answers: Answers::default(),
            overdue_at: None,
        }
    }

    /// For one request over HTTP, whose headers repeat some of its arguments: they are compared as soon as
    /// the tool's schema says which.
    #[must_use]
    pub fn with_mirrors(mut self, mirrors: Mirrors) -> Self {
        self.mirrors = Some(mirrors);
        self
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
        if !self.hear_own(message, now, &mut out) {
            self.pass_to_client(Cow::Borrowed(message), now, &mut out);
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

    /// Whether calls wait for the tools to be known.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Gives back memory that is kept only to be quick, for a connection that is not used for a
    /// while. What was learnt and what waits is kept.
    pub fn rest(&mut self) {
        self.middleware.rest();
        self.answers.forget();
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
        self.subscription.renew();
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
        self.hear_own(message, now, &mut out);
        out
    }

    /// The revision that the peers have agreed on or declared; `None` before, and for one that is
    /// not known here.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.middleware.agreed_revision()
    }

    /// Whether the peers have agreed on a revision or declared one, be it known here or not.
    pub fn is_revision_settled(&self) -> bool {
        self.middleware.is_revision_settled()
    }

    /// The revision that is spoken, as far as it is known by now.
    pub fn revision(&self) -> Option<Revision> {
        self.middleware.revision()
    }

    /// Whether a message was for us alone; then it has been heeded.
    fn hear_own(&mut self, message: &[u8], now: Duration, out: &mut Outbox<'_>) -> bool {
        if let Some(reply) = self.own.recognise(message) {
            self.learn(&reply, now, out);
            return true;
        }
        let news = self.subscription.recognise(message);
        news.map(|news| self.heed(news, out)).is_some()
    }

    fn admit<'m>(
        &mut self,
        message: Cow<'m, [u8]>,
        now: Duration,
        which: Try,
        out: &mut Outbox<'m>,
    ) {
        if let Some(refusal) = self.unlike_its_headers(&message, now) {
            if which == Try::First && self.list_is_old(now) {
                return self.hold(message.into_owned(), now, out);
            }
            out.to_client.push(Cow::Owned(refusal.answer.clone()));
            out.events.push(Event::Judged { sender: Side::Client, verdict: refusal.into() });
            return;
        }
        let before = self.middleware.departed();
        let verdict = self.middleware.handle(Side::Client, &message, now);
        let has_departed = self.middleware.departed() != before;
        if which == Try::First
            && verdict.parts.is_empty()
            && is_by_list(&verdict, has_departed)
            && (self.list_is_old(now) || is_of_unknown_tool(&verdict) && self.can_ask(now))
        {
            self.take_back(&verdict);
            self.hold(message.into_owned(), now, out);
            return;
        }
        let answers = |gatekeeper: &mut Self, part: &Part, message: &[u8]| {
            gatekeeper.own_answer(part, message, now).map(Decision::Answer)
        };
        let mut verdict = self.amended(verdict, &message, answers);
        raise_doubts(&mut verdict);
        out.settle(Side::Client, verdict, message);
    }

    fn pass_to_client<'m>(&mut self, message: Cow<'m, [u8]>, now: Duration, out: &mut Outbox<'m>) {
        let verdict = self.middleware.handle(Side::Server, &message, now);
        let additions = |gatekeeper: &mut Self, part: &Part, message: &[u8]| {
            gatekeeper.addition(part, message, now, out)
        };
        let judged = verdict.decision.clone();
        let mut verdict = self.amended(verdict, &message, additions);
        let ended_handshake = verdict.subject.method.as_deref() == Some("initialize");
        out.send(Side::Server, &verdict.decision, message);
        if matches!(verdict.decision, Decision::Rewrite(_)) {
            // What we have added is no judgement.
            verdict.decision = judged;
        }
        out.events.push(Event::Judged { sender: Side::Server, verdict });
        if ended_handshake && !self.held.is_empty() {
            match self.middleware.server_has_tools() {
                Some(true) => self.ask(out),
                _ => self.release(now, out),
            }
        }
    }
}
