//! Answers of the server that match no request: requests that may have been meant do not wait for ever.
//!
//! Contract: after an answer that cannot be matched, a pending request is answered within
//! [`unmatched_timeout`](super::ConnectionSettings::unmatched_timeout): by its own response if that still arrives, else with
//! an error. If the answer has the id of a pending request, only that one is affected; otherwise each of them may have been
//! meant. An id of the right value and the wrong type (`"7"` for 7) is corrected, because it cannot mean anything else.

use std::time::Duration;

use stickler::rules::Code;

use super::pending::{Entry, Match, PendingRequests};
use super::tool_fetch::is_gateway_id;
use super::{Action, Actions, Connection, cancellation};
use crate::envelope::{PartialHeader, RequestId};
use crate::side::Side;
use crate::verdict::Verdict;

/// The method whose response ends a subscription, which may stay open for any time.
const SUBSCRIPTION: &str = "subscriptions/listen";

impl Connection {
    /// Records an answer of the server that the caller could not pass to any connection, for a server that several
    /// connections share.
    pub fn note_unmatched_answer(&mut self, now: Duration) {
        self.note_unmatched(None, now);
    }

    /// Records an answer that matches no request; `id` is what is known about its id.
    pub(super) fn note_unmatched(&mut self, id: Option<&RequestId>, now: Duration) {
        let Some(timeout) = self.settings.unmatched_timeout else { return };
        if matches!(id, Some(RequestId::String(id)) if is_gateway_id(id)) {
            return;
        }
        let due = now.saturating_add(timeout);
        let requests = self.pending.of_mut(Side::Client);
        if requests.limit_wait(id.filter(|id| requests.is_pending(id)).cloned().as_ref(), due) {
            self.unmatched_at = Some(self.unmatched_at.map_or(due, |earlier| earlier.min(due)));
        }
    }

    /// Records an answer that cannot be read, alone or after other text on its line.
    pub(super) fn note_unreadable(&mut self, bytes: &[u8], verdict: &Verdict, now: Duration) {
        // The method is known if the answer was matched by its id.
        let is_matched = verdict.header.method.is_some();
        let contains = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
        let is_answer =
            contains("\"jsonrpc\"") && (contains("\"result\"") || contains("\"error\""));
        if is_matched || !is_answer {
            return;
        }
        let begin = memchr::memchr(b'{', bytes).unwrap_or_default();
        let partial = PartialHeader::of(bytes.get(begin..).unwrap_or_default());
        let id = partial.id.and_then(|id| RequestId::parse(id.as_bytes()));
        self.note_unmatched(id.as_ref(), now);
    }

    /// Returns the id of the pending request that an id of the wrong type means.
    pub(super) fn corrected_id(&self, side: Side, id: &RequestId) -> Option<RequestId> {
        let requests = self.pending.of(side.other());
        let meant = match id {
            RequestId::String(text) => RequestId::parse(text.as_bytes())
                .filter(|number| !matches!(number, RequestId::String(_)))?,
            number => RequestId::String(number.to_json().into()),
        };
        let is_meant = matches!(requests.find(id), Match::Unknown)
            && matches!(requests.find(&meant), Match::Pending(_));
        (side == Side::Server && is_meant).then_some(meant)
    }

    /// Answers the requests that an unmatched answer may have been meant for.
    pub(super) fn expire_unmatched(&mut self, now: Duration, out: &mut Actions<'_>) {
        if self.unmatched_at.is_none_or(|due| due > now) {
            return;
        }
        let (due, next) = self.pending.of(Side::Client).overdue_unmatched(now);
        self.unmatched_at = next;
        let seconds = self.settings.unmatched_timeout.unwrap_or_default().as_secs_f64();
        let reason = format!(
            "the server sent an answer that matches no request, and none to this one within {seconds} s"
        );
        for id in due {
            let may_cancel = self.pending.of(Side::Client).method_of(&id) != Some("initialize");
            let error = self.abandon_request(&id, Code::Protocol, &reason);
            out.extend(error.map(|reply| Action::Reply { to: Side::Client, reply }));
            if may_cancel {
                let (header, bytes) = cancellation(&id, &reason);
                out.push(Action::Cancel { header, bytes });
            }
        }
    }
}

impl PendingRequests {
    /// Limits the time that a forwarded request waits, or all of them without an id. Returns whether there is one.
    fn limit_wait(&mut self, id: Option<&RequestId>, due: Duration) -> bool {
        let mut has_any = false;
        for (known, entry) in &mut self.by_id {
            let Entry::Forwarded(pending) = entry else { continue };
            if id.is_none_or(|id| id == known) && pending.method != SUBSCRIPTION {
                pending.answer_by.get_or_insert(due);
                has_any = true;
            }
        }
        has_any
    }

    /// Returns the requests that waited long enough after an unmatched answer, oldest first, and when to look again.
    fn overdue_unmatched(&self, now: Duration) -> (Vec<RequestId>, Option<Duration>) {
        let mut overdue = Vec::new();
        let mut next: Option<Duration> = None;
        for (id, entry) in &self.by_id {
            let Entry::Forwarded(pending) = entry else { continue };
            match pending.answer_by {
                Some(due) if due <= now => overdue.push((pending.sent_at, id.clone())),
                Some(due) => next = Some(next.map_or(due, |earlier| earlier.min(due))),
                None => {}
            }
        }
        overdue.sort_by(|(a, one), (b, other)| (a, one.to_json()).cmp(&(b, other.to_json())));
        (overdue.into_iter().map(|(_, id)| id).collect(), next)
    }
}
