//! Calls that wait until the server's tools are known, and the asking for them.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::TapeBuffer;

use super::own::{Progress, Reply};
use super::{Event, Gatekeeper, Outbox, Try};
use crate::envelope::{Address, mentions, requests_in};
use crate::headers::{CAPABILITIES_KEY, HeaderRefusal, VERSION_KEY};
use crate::protocol::Revision;
use crate::verdict::{Decision, Verdict};

impl Gatekeeper {
    /// Whether a message is a call that should wait until the tools are known.
    pub(super) fn must_wait(&self, message: &[u8], now: Duration) -> bool {
        let is_called = |name: &str| Address::of(message).has_method(message, name);
        let mentions = |name: &str| mentions(message, name) || is_called(name);
        if !self.held.is_empty() {
            // What refers to a call that waits must not overtake it.
            let refers = mentions("tools/call") || mentions("notifications/cancelled");
            // What has the id of one of them is no second one.
            return refers
                && !requests_in(message).iter().any(|id| self.middleware.is_reserved(id));
        }
        let freshness = self.validator.cache().freshness(&self.server);
        let known = freshness.is_some_and(|freshness| !freshness.is_stale(now));
        // A batch is judged once, so whatever it holds must be judged by a list that will do.
        let is_batch = || message.trim_ascii_start().first() == Some(&b'[');
        let known = known && !(is_batch() && self.list_is_old(now));
        !known && mentions("tools/call") && self.can_ask(now)
    }

    /// Whether asking the server for its tools can come to something, now or after the handshake.
    pub(super) fn can_ask(&self, now: Duration) -> bool {
        self.settings.learns
            && self.middleware.server_has_tools() != Some(false)
            && self.own.may_ask(now, self.settings.pause_after_failure)
    }

    pub(super) fn hold(&mut self, message: Vec<u8>, now: Duration, out: &mut Outbox<'_>) {
        self.middleware.reserve(requests_in(&message));
        let declared = declared(&message, CAPABILITIES_KEY);
        self.capabilities = declared.or_else(|| self.capabilities.take());
        self.held.push(message, now.saturating_add(self.settings.longest_wait));
        self.ask(out);
    }

    /// Asks for the tools, unless the server is still about to say whether it has any.
    pub(super) fn ask(&mut self, out: &mut Outbox<'_>) {
        let speaker = (self.own_revision(), self.capabilities.as_ref());
        let changes = self.validator.cache().changes(&self.server);
        if self.middleware.server_has_tools() == Some(true)
            && let Some(request) = self.own.ask(speaker, None, changes)
        {
            out.to_server.push(Cow::Owned(request));
        }
    }

    /// The revision that our own questions are written in. The first request to speak for itself
    /// may be the one that waits for their answers.
    pub(super) fn own_revision(&self) -> Option<Revision> {
        let waiting = self.held.first().filter(|_| !self.middleware.is_revision_settled());
        let declared = waiting.and_then(|message| declared(message, VERSION_KEY));
        let declared = declared.and_then(|version| Revision::parse(version.as_str()?));
        declared.or_else(|| self.middleware.revision())
    }

    /// A call is to be judged again: what came of it has not happened.
    pub(super) fn take_back(&mut self, verdict: &Verdict) {
        match (&verdict.decision, &verdict.subject.id) {
            (Decision::Forward, Some(id)) => self.middleware.take_back_call(id),
            _ => self.middleware.take_back_refusal(),
        }
    }

    /// A list of a few seconds ago is as good as a new one.
    pub(super) fn list_is_old(&self, now: Duration) -> bool {
        let freshness = self.validator.cache().freshness(&self.server);
        let age = freshness.map(|freshness| now.saturating_sub(freshness.learnt_at));
        age.is_some_and(|age| age > self.settings.fresh_enough) && self.can_ask(now)
    }

    /// What is wrong with the headers that repeat a call's arguments, by a list that can be relied on.
    pub(super) fn unlike_its_headers(
        &self,
        message: &[u8],
        now: Duration,
    ) -> Option<HeaderRefusal> {
        let mirrors = self.mirrors.as_ref()?;
        let cache = self.validator.cache();
        if !cache.has_mirrors(&self.server) || cache.is_stale(&self.server, now) {
            return None;
        }
        mirrors.check(message, |tool| cache.get(&self.server, tool)).err()
    }

    /// An answer to a question of our own.
    pub(super) fn learn(&mut self, reply: &Reply, now: Duration, out: &mut Outbox<'_>) {
        let known = (self.validator.cache(), &self.validator.config().limits);
        match self.own.learn(reply, known, &self.server, now) {
            Progress::NextPage(cursor) => {
                let speaker = (self.own_revision(), self.capabilities.as_ref());
                let request = self.own.ask(speaker, Some(&cursor), reply.changes);
                out.to_server.extend(request.map(Cow::Owned));
                return;
            }
            Progress::Nothing => return,
            Progress::Learnt(discovery) => {
                self.register_service();
                self.answers.forget();
                out.events.push(Event::Learnt { discovery });
                if self.is_outdated(reply) {
                    return self.ask(out);
                }
            }
            Progress::Failed(reason) => {
                self.own.give_up(now);
                self.degrade(&reason, out);
            }
        }
        // While the call that waits still tells the revision; but no call waits for this.
        let request = self.request_for_changes();
        self.release(now, out);
        out.to_server.extend(request.map(Cow::Owned));
    }

    /// Whether a list that was learnt just now is to be asked for again, because it has changed
    /// since it was asked for and calls wait for it.
    fn is_outdated(&mut self, reply: &Reply) -> bool {
        if reply.changes == self.validator.cache().changes(&self.server) {
            self.own.settle();
            return false;
        }
        self.validator.cache().mark_stale(&self.server);
        !self.held.is_empty() && self.own.try_again()
    }

    /// What is known can no longer be confirmed, so it refuses nothing.
    pub(super) fn degrade(&mut self, reason: &str, out: &mut Outbox<'_>) {
        self.validator.cache().mark_stale(&self.server);
        out.events.push(Event::Degraded { reason: reason.to_owned() });
    }

    /// Whatever waits is judged by what is known now.
    pub(super) fn release(&mut self, now: Duration, out: &mut Outbox<'_>) {
        self.middleware.end_reservations();
        for message in self.held.take() {
            self.admit(Cow::Owned(message), now, Try::Last, out);
        }
    }
}

/// Whether a newer list of tools could lead to another verdict on a call.
pub(super) fn is_by_list(verdict: &Verdict, has_departed: bool) -> bool {
    let has = |rule| verdict.findings.iter().any(|finding| finding.rule == rule);
    match verdict.decision {
        Decision::Answer(_) => has(MessageRule::UnknownTool) || has(MessageRule::InvalidArguments),
        // One that goes on without having departed has the id of another, which must stay.
        Decision::Forward => {
            has_departed && verdict.subject.id.is_some() && has(MessageRule::UnknownTool)
        }
        _ => false,
    }
}

/// Whether a call is refused because its tool is on no list, however new that is.
pub(super) fn is_of_unknown_tool(verdict: &Verdict) -> bool {
    let is_refused = matches!(verdict.decision, Decision::Answer(_));
    is_refused && verdict.findings.iter().any(|finding| finding.rule == MessageRule::UnknownTool)
}

/// A call that goes on though a list that may have changed is against it: whoever reads the log wants to know.
pub(super) fn raise_doubts(verdict: &mut Verdict) {
    let by_list = [MessageRule::UnknownTool, MessageRule::InvalidArguments];
    let doubts = verdict.findings.iter_mut().filter(|one| by_list.contains(&one.rule));
    if verdict.decision == Decision::Forward {
        doubts.for_each(|doubt| doubt.severity = doubt.severity.max(Severity::Warning));
    }
}

/// What a request says of itself.
fn declared(message: &[u8], key: &str) -> Option<Value> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    Some(tape.root().get("params")?.get("_meta")?.get(key)?.to_value())
}
