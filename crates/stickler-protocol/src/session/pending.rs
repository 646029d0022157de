//! Pending requests: forwarded, but not answered yet.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Capabilities;
use super::recently_completed::{Outcome, RecentlyCompleted};
use crate::envelope::RequestId;
use crate::protocol::Revision;

/// Number of completed requests to remember on an idle connection.
const MAX_COMPLETED_WHEN_IDLE: usize = 16;

/// A forwarded request without a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingRequest {
    /// The id as raw JSON.
    pub(crate) id: Box<str>,
    pub(crate) method: Cow<'static, str>,
    /// The revision that the request was checked against.
    pub(crate) revision: Option<Revision>,
    /// The name of the called tool.
    pub(crate) tool: Option<Box<str>>,
    /// The request asks for execution as a task.
    pub(crate) requests_task: bool,
    /// The cursor of the requested page.
    pub(crate) cursor: Option<Box<str>>,
    /// The request has a cursor, even if it is too long to be stored.
    pub(crate) has_cursor: bool,
    pub(crate) progress_token: Option<RequestId>,
    /// The capabilities that the request declares, in modern revisions.
    pub(crate) capabilities: Option<Capabilities>,
    pub(crate) sent_at: Duration,
    /// Change count of the tool list when the request was sent.
    pub(crate) list_changes: u64,
}

/// The result of matching a response to its request.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The response answers this request.
    Answered(Box<PendingRequest>),
    /// The request was cancelled.
    Cancelled,
    /// The request was already answered.
    Duplicate,
    /// The request was abandoned and answered with an error.
    Abandoned,
    /// No request with this id is known.
    Unknown,
}

/// The pending requests of one side.
#[derive(Debug)]
pub(crate) struct PendingRequests {
    limit: usize,
    started: u64,
    /// A tree, because few requests are pending at a time and no choice of ids degrades it.
    by_id: BTreeMap<RequestId, Box<PendingRequest>>,
    /// Ids of held requests, which are not checked yet.
    reserved: BTreeSet<RequestId>,
    tokens: BTreeMap<RequestId, RequestId>,
    completed: RecentlyCompleted,
}

impl PendingRequests {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            started: 0,
            by_id: BTreeMap::new(),
            reserved: BTreeSet::new(),
            tokens: BTreeMap::new(),
            completed: RecentlyCompleted::default(),
        }
    }

    pub(crate) fn is_pending(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id) || self.reserved.contains(id)
    }

    pub(crate) fn reserve(&mut self, ids: Vec<RequestId>) {
        self.reserved.extend(ids);
    }

    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        self.reserved.contains(id)
    }

    pub(crate) fn end_reservations(&mut self) {
        self.reserved.clear();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.by_id.len() >= self.limit
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether a recently completed request had this id.
    pub(crate) fn was_used(&self, id: &RequestId) -> bool {
        self.completed.outcome(id).is_some()
    }

    pub(crate) fn method_of(&self, id: &RequestId) -> Option<&str> {
        self.by_id.get(id).map(|pending| &*pending.method)
    }

    pub(crate) fn start(&mut self, id: RequestId, pending: PendingRequest) {
        if let Some(token) = &pending.progress_token {
            self.tokens.insert(token.clone(), id.clone());
        }
        self.started = self.started.wrapping_add(1);
        self.by_id.insert(id, Box::new(pending));
    }

    /// Returns the number of requests started so far.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Removes a request that was not forwarded after all.
    pub(crate) fn rollback(&mut self, id: &RequestId) {
        let pending = self.by_id.remove(id);
        if let Some(token) = pending.and_then(|pending| pending.progress_token)
            && self.tokens.get(&token) == Some(id)
        {
            self.tokens.remove(&token);
        }
    }

    /// Completes the request that a response answers.
    pub(crate) fn complete(&mut self, id: &RequestId) -> Completion {
        let Some(pending) = self.close(id, Outcome::Answered) else {
            return match self.completed.outcome(id) {
                Some(Outcome::Answered) => Completion::Duplicate,
                Some(Outcome::Cancelled) => Completion::Cancelled,
                Some(Outcome::Abandoned) => Completion::Abandoned,
                None => Completion::Unknown,
            };
        };
        Completion::Answered(pending)
    }

    /// Cancels a request; returns whether it was pending.
    pub(crate) fn cancel(&mut self, id: &RequestId) -> bool {
        self.close(id, Outcome::Cancelled).is_some()
    }

    /// Abandons a request that gets an error instead of a response.
    pub(crate) fn abandon(&mut self, id: &RequestId) -> Option<Box<PendingRequest>> {
        self.close(id, Outcome::Abandoned)
    }

    /// Returns the requests sent at or before `cutoff`, oldest first, and when the oldest of the
    /// others was sent. Skips methods without a timeout.
    pub(crate) fn overdue(
        &self,
        cutoff: Duration,
        has_no_timeout: impl Fn(&str) -> bool,
    ) -> (Vec<RequestId>, Option<Duration>) {
        let mut overdue = Vec::new();
        let mut oldest: Option<Duration> = None;
        for (id, pending) in
            self.by_id.iter().filter(|(_, pending)| !has_no_timeout(&pending.method))
        {
            if pending.sent_at <= cutoff {
                overdue.push((pending.sent_at, id.clone()));
            } else {
                oldest = Some(oldest.map_or(pending.sent_at, |oldest| oldest.min(pending.sent_at)));
            }
        }
        overdue.sort_by(|(a, one), (b, other)| (a, one.to_json()).cmp(&(b, other.to_json())));
        (overdue.into_iter().map(|(_, id)| id).collect(), oldest)
    }

    /// Shrinks the history and frees empty containers.
    pub(crate) fn shrink(&mut self) {
        // An empty tree keeps its root node allocated.
        if self.by_id.is_empty() {
            self.by_id = BTreeMap::new();
        }
        if self.tokens.is_empty() {
            self.tokens = BTreeMap::new();
        }
        self.completed.retain_newest(MAX_COMPLETED_WHEN_IDLE);
    }

    /// Returns whether a progress token is in use, or was until recently.
    pub(crate) fn expects_progress(&self, token: &RequestId) -> bool {
        self.tokens.contains_key(token) || self.completed.has_token(token)
    }

    /// Abandons and returns all pending requests, oldest first.
    pub(crate) fn abandon_all(&mut self) -> Vec<PendingRequest> {
        self.tokens.clear();
        let by_id = std::mem::take(&mut self.by_id);
        let mut requests: Vec<PendingRequest> = Vec::with_capacity(by_id.len());
        for (id, pending) in by_id {
            self.completed.remember(&id, Outcome::Abandoned);
            requests.push(*pending);
        }
        requests.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
        requests
    }

    fn close(&mut self, id: &RequestId, outcome: Outcome) -> Option<Box<PendingRequest>> {
        let pending = self.by_id.remove(id)?;
        if let Some(token) = &pending.progress_token {
            self.tokens.remove(token);
            self.completed.remember_token(token, outcome);
        }
        self.completed.remember(id, outcome);
        Some(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::{Completion, MAX_COMPLETED_WHEN_IDLE, PendingRequest, PendingRequests};
    use crate::envelope::RequestId;
    use crate::session::recently_completed::MAX_COMPLETED;

    fn id(number: usize) -> RequestId {
        RequestId::Integer(i64::try_from(number).unwrap())
    }

    #[test]
    fn response_completes_its_request_once() {
        let mut requests = PendingRequests::new(10);
        requests
            .start(id(1), PendingRequest { method: "ping".into(), ..PendingRequest::default() });
        assert!(matches!(requests.complete(&id(2)), Completion::Unknown));
        assert!(
            matches!(requests.complete(&id(1)), Completion::Answered(pending) if &*pending.method == "ping")
        );
        assert!(matches!(requests.complete(&id(1)), Completion::Duplicate));
        assert!(requests.was_used(&id(1)) && !requests.was_used(&id(2)));
    }

    #[test]
    fn cancelled_request_is_removed_but_remembered() {
        let mut requests = PendingRequests::new(10);
        requests.start(id(1), PendingRequest::default());
        assert!(requests.cancel(&id(1)));
        assert!(!requests.cancel(&id(1)));
        assert!(matches!(requests.complete(&id(1)), Completion::Cancelled));
        assert_eq!(requests.len(), 0);
    }

    #[test]
    fn shrink_keeps_pending_and_last_completed_requests() {
        let mut requests = PendingRequests::new(10);
        requests.start(id(MAX_COMPLETED), PendingRequest::default());
        for number in 0..MAX_COMPLETED {
            requests.start(id(number), PendingRequest::default());
            requests.complete(&id(number));
        }
        requests.shrink();
        assert_eq!(requests.completed.len(), MAX_COMPLETED_WHEN_IDLE);
        assert!(matches!(requests.complete(&id(MAX_COMPLETED - 1)), Completion::Duplicate));
        assert!(matches!(requests.complete(&id(MAX_COMPLETED)), Completion::Answered(_)));
    }

    #[test]
    fn progress_is_expected_while_the_request_is_pending() {
        let mut requests = PendingRequests::new(10);
        let token = RequestId::String("t".into());
        let pending =
            PendingRequest { progress_token: Some(token.clone()), ..PendingRequest::default() };
        assert!(!requests.expects_progress(&token));
        requests.start(id(1), pending);
        assert!(requests.expects_progress(&token));
        requests.complete(&id(1));
        assert!(requests.tokens.is_empty());
        assert!(requests.expects_progress(&token), "progress and response may have crossed");
    }
}
