//! Pending requests: forwarded or held, and not answered yet. This table alone answers who waits for an id.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::capabilities::Capabilities;
use super::held::HeldMessage;
use super::recently_completed::{Outcome, RecentlyCompleted};
use crate::envelope::RequestId;
use crate::protocol::Revision;
use crate::side::Side;

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
    pub(crate) tool: Option<Arc<str>>,
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
    /// When to stop waiting, because an answer of the server could not be matched.
    pub(crate) answer_by: Option<Duration>,
    /// Change count of the tool list when the request was sent.
    pub(crate) list_changes: u64,
}

/// The request that a response belongs to.
#[derive(Debug)]
pub(crate) enum Match<'p> {
    /// The response answers this request.
    Pending(&'p PendingRequest),
    /// The request was cancelled.
    Cancelled,
    /// The request was already answered.
    Duplicate,
    /// The request was abandoned and answered with an error.
    Abandoned,
    /// No request with this id is known.
    Unknown,
}

#[derive(Debug)]
pub(super) enum Entry {
    Forwarded(Box<PendingRequest>),
    /// The request is part of a held message.
    Held,
}

/// The pending requests of both sides.
#[derive(Debug)]
pub(crate) struct PendingTable {
    client: PendingRequests,
    server: PendingRequests,
}

impl PendingTable {
    pub(crate) fn new(limit: usize) -> Self {
        Self { client: PendingRequests::new(limit), server: PendingRequests::new(limit) }
    }

    /// Returns the requests that a side sent.
    pub(crate) fn of(&self, requester: Side) -> &PendingRequests {
        match requester {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// Returns the requests that a side sent, to change them.
    pub(crate) fn of_mut(&mut self, requester: Side) -> &mut PendingRequests {
        match requester {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Shrinks the history and frees empty containers.
    pub(crate) fn shrink(&mut self) {
        self.client.shrink();
        self.server.shrink();
    }
}

/// The pending requests of one side.
#[derive(Debug)]
pub(crate) struct PendingRequests {
    pub(super) limit: usize,
    /// A tree, because few requests are pending at a time and no choice of ids degrades it.
    pub(super) by_id: BTreeMap<RequestId, Entry>,
    /// Number of `Held` entries.
    pub(super) held_ids: usize,
    /// Held messages, in order of arrival.
    pub(super) held: VecDeque<HeldMessage>,
    /// Memory of the held messages.
    pub(super) held_bytes: usize,
    /// The number of the last work that a held message waits for.
    pub(super) next_work: u64,
    /// When the first held message has waited long enough.
    pub(super) hold_deadline: Option<Duration>,
    tokens: BTreeMap<RequestId, RequestId>,
    pub(super) completed: RecentlyCompleted,
}

impl PendingRequests {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            by_id: BTreeMap::new(),
            held_ids: 0,
            held: VecDeque::new(),
            held_bytes: 0,
            next_work: 0,
            hold_deadline: None,
            tokens: BTreeMap::new(),
            completed: RecentlyCompleted::default(),
        }
    }

    /// Returns whether a request with this id is forwarded or held.
    pub(crate) fn is_pending(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns whether a request with this id is held.
    pub(crate) fn is_held(&self, id: &RequestId) -> bool {
        self.held_ids > 0 && matches!(self.by_id.get(id), Some(Entry::Held))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// Returns the number of forwarded requests.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len().saturating_sub(self.held_ids)
    }

    /// Returns whether a recently completed request had this id.
    pub(crate) fn was_used(&self, id: &RequestId) -> bool {
        self.completed.outcome(id).is_some()
    }

    fn get(&self, id: &RequestId) -> Option<&PendingRequest> {
        match self.by_id.get(id)? {
            Entry::Forwarded(pending) => Some(pending),
            Entry::Held => None,
        }
    }

    pub(crate) fn method_of(&self, id: &RequestId) -> Option<&str> {
        self.get(id).map(|pending| &*pending.method)
    }

    /// Returns the request that a response with this id belongs to.
    pub(crate) fn find(&self, id: &RequestId) -> Match<'_> {
        if let Some(pending) = self.get(id) {
            return Match::Pending(pending);
        }
        match self.completed.outcome(id) {
            Some(Outcome::Answered) => Match::Duplicate,
            Some(Outcome::Cancelled) => Match::Cancelled,
            Some(Outcome::Abandoned) => Match::Abandoned,
            None => Match::Unknown,
        }
    }

    pub(crate) fn start(&mut self, id: RequestId, pending: PendingRequest) {
        if let Some(token) = &pending.progress_token {
            self.tokens.insert(token.clone(), id.clone());
        }
        self.by_id.insert(id, Entry::Forwarded(Box::new(pending)));
    }

    /// Completes the request that a response answers.
    pub(crate) fn complete(&mut self, id: &RequestId) -> Option<Box<PendingRequest>> {
        self.close(id, Outcome::Answered)
    }

    /// Cancels a forwarded request; returns whether it was pending.
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
        for (id, entry) in &self.by_id {
            let Entry::Forwarded(pending) = entry else { continue };
            if has_no_timeout(&pending.method) {
                continue;
            }
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
        for (id, entry) in by_id {
            match entry {
                Entry::Forwarded(pending) => {
                    self.completed.remember(&id, Outcome::Abandoned);
                    requests.push(*pending);
                }
                Entry::Held => drop(self.by_id.insert(id, Entry::Held)),
            }
        }
        requests.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
        requests
    }

    fn close(&mut self, id: &RequestId, outcome: Outcome) -> Option<Box<PendingRequest>> {
        self.get(id)?;
        let Some(Entry::Forwarded(pending)) = self.by_id.remove(id) else { return None };
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
    use super::{MAX_COMPLETED_WHEN_IDLE, Match, PendingRequest, PendingRequests};
    use crate::connection::recently_completed::MAX_COMPLETED;
    use crate::envelope::RequestId;

    fn id(number: usize) -> RequestId {
        RequestId::Integer(i64::try_from(number).unwrap())
    }

    #[test]
    fn response_completes_its_request_once() {
        let mut requests = PendingRequests::new(10);
        requests
            .start(id(1), PendingRequest { method: "ping".into(), ..PendingRequest::default() });
        assert!(matches!(requests.find(&id(2)), Match::Unknown));
        assert!(
            matches!(requests.find(&id(1)), Match::Pending(pending) if &*pending.method == "ping")
        );
        assert!(requests.complete(&id(1)).is_some() && requests.complete(&id(1)).is_none());
        assert!(matches!(requests.find(&id(1)), Match::Duplicate));
        assert!(requests.was_used(&id(1)) && !requests.was_used(&id(2)));
    }

    #[test]
    fn cancelled_request_is_removed_but_remembered() {
        let mut requests = PendingRequests::new(10);
        requests.start(id(1), PendingRequest::default());
        assert!(requests.cancel(&id(1)));
        assert!(!requests.cancel(&id(1)));
        assert!(matches!(requests.find(&id(1)), Match::Cancelled));
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
        assert!(matches!(requests.find(&id(MAX_COMPLETED - 1)), Match::Duplicate));
        assert!(requests.complete(&id(MAX_COMPLETED)).is_some());
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
