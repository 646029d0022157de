//! Holds calls while the tool list is fetched or refreshed, and releases them afterwards.
//!
//! A call is held if the tool list is unknown or stale, or if an old list would reject it. Every held
//! call is released: when the list arrives, when fetching fails, or at its deadline.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::TapeBuffer;

use super::gateway_requests::{FetchProgress, ToolListResponse};
use super::{Attempt, Connection, Event, Outbox};
use crate::envelope::{RoutingHeader, may_contain, requests_in};
use crate::headers::{CAPABILITIES_KEY, HeaderRejection, VERSION_KEY};
use crate::protocol::Revision;
use crate::verdict::{Decision, Verdict};

impl Connection {
    /// Returns whether a message contains a call that must wait for the tool list.
    pub(super) fn must_hold(&self, message: &[u8], now: Duration) -> bool {
        let has_method = |name: &str| RoutingHeader::of(message).has_method(message, name);
        let may_contain = |name: &str| may_contain(message, name) || has_method(name);
        if !self.held.is_empty() {
            // A message that refers to a held call must not overtake it.
            let refers_to_call =
                may_contain("tools/call") || may_contain("notifications/cancelled");
            // A request that reuses the id of a held call is rejected at once.
            return refers_to_call
                && !requests_in(message).iter().any(|id| self.middleware.is_reserved(id));
        }
        let freshness = self.validator.cache().freshness(&self.server);
        let is_known = freshness.is_some_and(|freshness| !freshness.is_stale(now));
        // A batch is checked only once, so it needs a fresh list from the start.
        let is_batch = || message.trim_ascii_start().first() == Some(&b'[');
        let is_known = is_known && !(is_batch() && self.is_list_old(now));
        !is_known && may_contain("tools/call") && self.can_fetch_tools(now)
    }

    /// Returns whether the tool list can be fetched, now or after the handshake.
    pub(super) fn can_fetch_tools(&self, now: Duration) -> bool {
        self.settings.fetch_tools
            && self.middleware.server_has_tools() != Some(false)
            && self.gateway_requests.may_fetch(now, self.settings.fetch_backoff)
    }

    pub(super) fn hold(&mut self, message: Vec<u8>, now: Duration, out: &mut Outbox<'_>) {
        self.middleware.reserve(requests_in(&message));
        let declared = meta_member(&message, CAPABILITIES_KEY);
        self.capabilities = declared.or_else(|| self.capabilities.take());
        self.held.push(message, now.saturating_add(self.settings.max_hold_time));
        self.fetch_tools(out);
    }

    /// Requests the tool list, unless the handshake that announces tools is still pending.
    pub(super) fn fetch_tools(&mut self, out: &mut Outbox<'_>) {
        let sender = (self.request_revision(), self.capabilities.as_ref());
        let changes = self.validator.cache().changes(&self.server);
        if self.middleware.server_has_tools() == Some(true)
            && let Some(request) = self.gateway_requests.request_page(sender, None, changes)
        {
            out.to_server.push(Cow::Owned(request));
        }
    }

    /// Returns the revision for gateway requests. A held call may be the first request that declares
    /// one.
    pub(super) fn request_revision(&self) -> Option<Revision> {
        let held = self.held.first().filter(|_| !self.middleware.is_revision_settled());
        let declared = held.and_then(|message| meta_member(message, VERSION_KEY));
        let declared = declared.and_then(|version| Revision::parse(version.as_str()?));
        declared.or_else(|| self.middleware.revision())
    }

    /// Reverts the state changes of a call that will be checked again.
    pub(super) fn rollback(&mut self, verdict: &Verdict) {
        match (&verdict.decision, &verdict.subject.id) {
            (Decision::Forward, Some(id)) => self.middleware.rollback_call(id),
            _ => self.middleware.rollback_rejection(),
        }
    }

    /// Returns whether the list exceeds its maximum age and can be refreshed.
    pub(super) fn is_list_old(&self, now: Duration) -> bool {
        let freshness = self.validator.cache().freshness(&self.server);
        let age = freshness.map(|freshness| now.saturating_sub(freshness.learned_at));
        age.is_some_and(|age| age > self.settings.max_list_age) && self.can_fetch_tools(now)
    }

    /// Compares the headers that mirror call arguments with the call, unless the list is stale.
    pub(super) fn check_param_headers(
        &self,
        message: &[u8],
        now: Duration,
    ) -> Option<HeaderRejection> {
        let param_headers = self.param_headers.as_ref()?;
        let cache = self.validator.cache();
        if !cache.has_param_headers(&self.server) || cache.is_stale(&self.server, now) {
            return None;
        }
        param_headers.check(message, |tool| cache.get(&self.server, tool)).err()
    }

    /// Handles the response to a tool list request of the gateway.
    pub(super) fn handle_tool_list(
        &mut self,
        reply: &ToolListResponse,
        now: Duration,
        out: &mut Outbox<'_>,
    ) {
        let cache = (self.validator.cache(), &self.validator.config().limits);
        match self.gateway_requests.add_page(reply, cache, &self.server, now) {
            FetchProgress::NextPage(cursor) => {
                let sender = (self.request_revision(), self.capabilities.as_ref());
                let request =
                    self.gateway_requests.request_page(sender, Some(&cursor), reply.changes);
                out.to_server.extend(request.map(Cow::Owned));
                return;
            }
            FetchProgress::Ignored => return,
            FetchProgress::Complete(discovery) => {
                self.register_service();
                self.validation_cache.clear();
                out.events.push(Event::ToolsLearned { discovery });
                if self.must_refetch(reply) {
                    return self.fetch_tools(out);
                }
            }
            FetchProgress::Failed(reason) => {
                self.gateway_requests.abandon(now);
                self.mark_unverified(&reason, out);
            }
        }
        // Create the request while the held call still declares the revision, but release calls first.
        let request = self.subscription_request();
        self.release_held(now, out);
        out.to_server.extend(request.map(Cow::Owned));
    }

    /// Returns whether to fetch the list again, because it changed during the fetch and calls are
    /// held for it.
    fn must_refetch(&mut self, reply: &ToolListResponse) -> bool {
        if reply.changes == self.validator.cache().changes(&self.server) {
            self.gateway_requests.reset_retry();
            return false;
        }
        self.validator.cache().mark_stale(&self.server);
        !self.held.is_empty() && self.gateway_requests.start_retry()
    }

    /// Marks the tool list as stale, so that it no longer rejects calls.
    pub(super) fn mark_unverified(&mut self, reason: &str, out: &mut Outbox<'_>) {
        self.validator.cache().mark_stale(&self.server);
        out.events.push(Event::Degraded { reason: reason.to_owned() });
    }

    /// Processes all held messages with the current tool list.
    pub(super) fn release_held(&mut self, now: Duration, out: &mut Outbox<'_>) {
        self.middleware.end_reservations();
        for message in self.held.take() {
            self.process_client_message(Cow::Owned(message), now, Attempt::AfterRefresh, out);
        }
    }
}

/// Returns whether a newer tool list could change the verdict on a call.
pub(super) fn depends_on_list(verdict: &Verdict, was_started: bool) -> bool {
    let has = |rule| verdict.findings.iter().any(|finding| finding.rule == rule);
    match verdict.decision {
        Decision::Answer(_) => has(MessageRule::UnknownTool) || has(MessageRule::InvalidArguments),
        // A call that is forwarded but was not started has a duplicate id, so it cannot be reverted.
        Decision::Forward => {
            was_started && verdict.subject.id.is_some() && has(MessageRule::UnknownTool)
        }
        _ => false,
    }
}

/// Returns whether a call was rejected because its tool is not listed.
pub(super) fn is_unknown_tool(verdict: &Verdict) -> bool {
    let is_rejected = matches!(verdict.decision, Decision::Answer(_));
    is_rejected && verdict.findings.iter().any(|finding| finding.rule == MessageRule::UnknownTool)
}

/// Raises findings to warnings if a call is forwarded although a possibly stale list would reject it.
pub(super) fn warn_if_stale(verdict: &mut Verdict) {
    let by_list = [MessageRule::UnknownTool, MessageRule::InvalidArguments];
    let findings = verdict.findings.iter_mut().filter(|one| by_list.contains(&one.rule));
    if verdict.decision == Decision::Forward {
        findings.for_each(|finding| finding.severity = finding.severity.max(Severity::Warning));
    }
}

/// Returns a member of the `_meta` of a request.
fn meta_member(message: &[u8], key: &str) -> Option<Value> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    Some(tape.root().get("params")?.get("_meta")?.get(key)?.to_value())
}
