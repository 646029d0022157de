//! Holds calls while the tool list is fetched or refreshed, and releases them afterwards.
//!
//! A call is held if the tool list is unknown or stale, or if an old list would reject it. Every held
//! call is released: when the list arrives, when fetching fails, or at its deadline.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler::Freshness;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::Node;

use super::held::HeldMessage;
use super::inspect::{Attempt, Incoming, ListUse, MustWait, WaitFor};
use super::tool_fetch::{FetchProgress, RequestedPage, ToolListResponse};
use super::work::{Prepared, Task, Work};
use super::{Action, Actions, Connection, Event};
use crate::envelope::{Envelope, Shape};
use crate::headers::{CAPABILITIES_KEY, HeaderRejection, VERSION_KEY};
use crate::protocol::Revision;
use crate::side::Side;
use crate::verdict::{Decision, Verdict};

impl Connection {
    /// Returns the description of a client message that must wait for the tool list before it is inspected;
    /// `None` for all others.
    pub(super) fn needs_list(
        &self,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Option<MustWait> {
        let is_batch = envelope.shape == Shape::Batch;
        let method = envelope.method.as_deref();
        if !is_batch && !matches!(method, Some("tools/call" | "notifications/cancelled")) {
            return None;
        }
        if self.pending.of(Side::Client).waits_for_list() {
            return self.refers_to_held_call(incoming.node, envelope);
        }
        if method == Some("notifications/cancelled") {
            return self.cancels_held_call(incoming.node, envelope);
        }
        let has_call = match method {
            Some(method) => method == "tools/call",
            None => incoming.node.elements().any(is_call),
        };
        let is_waiting = has_call && !self.is_list_usable(is_batch, incoming.now);
        is_waiting.then(|| MustWait::of(incoming.node, envelope, WaitFor::UnknownList))
    }

    /// Returns whether the tool list may be used for calls, or cannot be fetched. A batch is checked only
    /// once, so it needs a fresh list from the start.
    fn is_list_usable(&self, is_batch: bool, now: Duration) -> bool {
        let freshness = self.validator.cache().freshness(&self.server);
        let is_known = freshness.is_some_and(|freshness| !freshness.is_stale(now));
        is_known && !(is_batch && self.is_list_old(now)) || !self.can_fetch_tools(now)
    }

    /// Describes a message that must not overtake the held calls: another call, or the cancellation of a
    /// held one. A request that reuses the id of a held call is rejected at once.
    fn refers_to_held_call(&self, message: Node<'_>, envelope: &Envelope<'_>) -> Option<MustWait> {
        let requests = self.pending.of(Side::Client);
        let must_wait = MustWait::of(message, envelope, WaitFor::NewerList);
        let header = &must_wait.header;
        if header.requests().any(|id| requests.is_held(id)) {
            return None;
        }
        let mut all = std::iter::once(header).chain(&header.batch);
        let refers = all.any(|one| {
            one.has_method("tools/call")
                || one.cancels.as_ref().is_some_and(|id| requests.is_held(id))
        });
        refers.then_some(must_wait)
    }

    /// Describes the cancellation of a held call, which discards that call.
    fn cancels_held_call(&self, message: Node<'_>, envelope: &Envelope<'_>) -> Option<MustWait> {
        let requests = self.pending.of(Side::Client);
        requests.first_held()?;
        let must_wait = MustWait::of(message, envelope, WaitFor::NewerList);
        let cancels = must_wait.header.cancels.as_ref();
        cancels.is_some_and(|id| requests.is_single_held(id)).then_some(must_wait)
    }

    /// Returns whether the tool list can be fetched, now or after the handshake.
    pub(super) fn can_fetch_tools(&self, now: Duration) -> bool {
        self.settings.fetch_tools
            && self.lifecycle.server_has_tools() != Some(false)
            && self.tool_fetch.may_fetch(now, self.settings.fetch_backoff)
    }

    /// Holds a message until the tool list arrives or work is done. The cancellation of a held call discards that call.
    pub(super) fn hold<'m>(
        &mut self,
        must_wait: MustWait,
        message: Cow<'m, [u8]>,
        now: Duration,
        attempt: Attempt<'_>,
        out: &mut Actions<'m>,
    ) {
        let MustWait { header, meta, wait } = must_wait;
        let requests = self.pending.of_mut(Side::Client);
        if let Some(id) = header.cancels.clone().filter(|id| requests.cancel_held(id)) {
            out.push(Action::Cancelled { id });
            let verdict = self.discarded(header);
            return out.event(Event::Checked { sender: Side::Client, verdict });
        }
        if matches!(wait, WaitFor::UnknownList) && !self.settings.hold_calls {
            self.process_client_message(
                message,
                now,
                Attempt { list: ListUse::AsIs, ..attempt },
                out,
            );
            return self.fetch_tools(out);
        }
        // A call that waits for its explanation is kept twice.
        let copies = if matches!(wait, WaitFor::Work(Task::Explain { .. })) { 2 } else { 1 };
        let memory = self.validator.cache().memory();
        let memory = match requests.reserve_memory(message.len() * copies, memory) {
            Ok(memory) => memory,
            Err(no_room) => {
                let (prepared, no_room) = (Prepared::Unavailable, Some(no_room));
                let attempt = Attempt { list: ListUse::AsIs, prepared, no_room, ..attempt };
                return self.process_client_message(message, now, attempt, out);
            }
        };
        let meta: Option<Value> = meta.and_then(|meta| serde_json::from_str(&meta).ok());
        let member = |key: &str| meta.as_ref()?.get(key);
        let revision = member(VERSION_KEY).and_then(|version| Revision::parse(version.as_str()?));
        if let Some(capabilities) = member(CAPABILITIES_KEY) {
            self.capabilities = Some(capabilities.clone());
        }
        let is_work = matches!(wait, WaitFor::Work(_));
        let list = match attempt.list {
            ListUse::AsIs if is_work && !self.validator.cache().is_stale(&self.server, now) => {
                ListUse::Confirmed
            }
            list => list,
        };
        let held = (message.into_owned(), list, attempt.context.clone());
        let requests = self.pending.of_mut(Side::Client);
        if let WaitFor::Work(task) = wait {
            let number = requests.hold_for_work(held, &header, revision, memory);
            out.push(Action::Hold { header: Arc::new(header) });
            return out.work(Work::new(self, number, task));
        }
        let deadline = now.saturating_add(self.settings.max_hold_time);
        requests.hold(held, &header, revision, (deadline, memory));
        out.push(Action::Hold { header: Arc::new(header) });
        self.fetch_tools(out);
    }

    /// Requests the tool list, unless the handshake that announces tools is still pending.
    pub(super) fn fetch_tools(&mut self, out: &mut Actions<'_>) {
        let sender = (self.request_revision(), self.capabilities.as_ref());
        let changes = self.validator.cache().changes(&self.server);
        if self.lifecycle.server_has_tools() == Some(true)
            && let Some(request) =
                self.tool_fetch.request_page(sender, RequestedPage::First, changes)
        {
            out.push(request);
        }
    }

    /// Returns the revision for gateway requests. A held call may be the first request that declares
    /// one.
    pub(super) fn request_revision(&self) -> Option<Revision> {
        let held = self.pending.of(Side::Client).first_held();
        let declared = held.filter(|_| !self.is_revision_settled()).and_then(|held| held.revision);
        declared.or_else(|| self.revision())
    }

    /// Returns whether the list exceeds its maximum age and can be refreshed.
    pub(super) fn is_list_old(&self, now: Duration) -> bool {
        self.is_old(self.validator.cache().freshness(&self.server), now)
    }

    /// Returns whether a list with that freshness exceeds its maximum age and can be refreshed.
    pub(super) fn is_old(&self, freshness: Option<Freshness>, now: Duration) -> bool {
        let age = freshness.map(|freshness| now.saturating_sub(freshness.learned_at));
        age.is_some_and(|age| age > self.settings.max_list_age) && self.can_fetch_tools(now)
    }

    /// Compares the headers that mirror call arguments with the call, unless the list is stale.
    pub(super) fn check_param_headers(
        &self,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Option<HeaderRejection> {
        let param_headers = incoming.attempt.context.param_headers.as_ref()?;
        let cache = self.validator.cache();
        if !cache.has_param_headers(&self.server) || cache.is_stale(&self.server, incoming.now) {
            return None;
        }
        param_headers.check(envelope, |tool| cache.get(&self.server, tool)).err()
    }

    /// Handles the response to a tool list request of the gateway.
    pub(super) fn handle_tool_list(
        &mut self,
        reply: &ToolListResponse,
        now: Duration,
        out: &mut Actions<'_>,
    ) {
        let cache = (self.validator.cache(), &self.validator.config().limits);
        let progress = self.tool_fetch.add_page(reply, cache, &self.server, now);
        self.advance_fetch(progress, reply.changes, now, out);
    }

    /// Continues or ends the fetch of a tool list that was requested at the given change count.
    pub(super) fn advance_fetch(
        &mut self,
        progress: FetchProgress,
        changes: u64,
        now: Duration,
        out: &mut Actions<'_>,
    ) {
        match progress {
            FetchProgress::NextPage => {
                let sender = (self.request_revision(), self.capabilities.as_ref());
                let request = self.tool_fetch.request_page(sender, RequestedPage::Next, changes);
                out.extend(request);
                return;
            }
            FetchProgress::Ignored => return,
            FetchProgress::Complete(discovery) => {
                self.register_service();
                self.validation_cache.clear();
                out.event(Event::ToolsLearned { discovery });
                if self.must_refetch(changes) {
                    return self.fetch_tools(out);
                }
            }
            FetchProgress::Failed(reason) => {
                self.tool_fetch.abandon(now);
                self.mark_unverified(&reason, out);
            }
        }
        // Create the request while the held call still declares the revision, but release calls first.
        let request = self.subscription_request();
        self.release_held(now, out);
        out.extend(request);
    }

    /// Returns whether to fetch the list again, because it changed during the fetch and calls are
    /// held for it.
    fn must_refetch(&mut self, changes: u64) -> bool {
        if changes == self.validator.cache().changes(&self.server) {
            self.tool_fetch.reset_retry();
            return false;
        }
        self.validator.cache().mark_stale(&self.server);
        self.pending.of(Side::Client).waits_for_list() && self.tool_fetch.start_retry()
    }

    /// Marks the tool list as stale, so that it no longer rejects calls.
    pub(super) fn mark_unverified(&mut self, reason: &str, out: &mut Actions<'_>) {
        self.validator.cache().mark_stale(&self.server);
        out.event(Event::Degraded { reason: reason.to_owned() });
    }

    /// Processes the messages that wait for the tool list with the current one.
    pub(super) fn release_held(&mut self, now: Duration, out: &mut Actions<'_>) {
        let held = self.pending.of_mut(Side::Client).release();
        self.process_released(held, self.unprepared(), now, out);
    }

    /// Processes all held messages without work that takes long.
    pub(super) fn release_all(&mut self, now: Duration, out: &mut Actions<'_>) {
        let held = self.pending.of_mut(Side::Client).release_all();
        self.process_released(held, Prepared::Unavailable, now, out);
    }

    fn process_released(
        &mut self,
        held: VecDeque<HeldMessage>,
        prepared: Prepared<'_>,
        now: Duration,
        out: &mut Actions<'_>,
    ) {
        for held in held {
            let attempt =
                Attempt { list: ListUse::AsIs, prepared, no_room: None, context: &held.context };
            self.process_client_message(Cow::Owned(held.bytes), now, attempt, out);
        }
    }

    /// Returns how a message is inspected for which nothing was done yet.
    pub(super) fn unprepared(&self) -> Prepared<'static> {
        if self.settings.defer_work { Prepared::Nothing } else { Prepared::Inline }
    }
}

/// Returns whether a message of a batch is a call.
fn is_call(message: Node<'_>) -> bool {
    message.get("method").and_then(Node::as_str).as_deref() == Some("tools/call")
}

/// Raises findings to warnings if a call is forwarded although a possibly stale list would reject it.
pub(super) fn warn_if_stale(verdict: &mut Verdict) {
    let by_list = [MessageRule::UnknownTool, MessageRule::InvalidArguments];
    let findings = verdict.findings.iter_mut().filter(|one| by_list.contains(&one.rule));
    if verdict.decision == Decision::Forward {
        findings.for_each(|finding| finding.severity = finding.severity.max(Severity::Warning));
    }
}
