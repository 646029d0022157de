//! Held messages: calls that wait for the tool list, in order of arrival.
//!
//! A held message reserves the ids of its requests in the table of pending requests. It can be cancelled, and
//! it is checked from its bytes when it is released.

use std::collections::{VecDeque, btree_map};
use std::time::Duration;

use super::pending::{Entry, PendingRequests};
use super::recently_completed::Outcome;
use crate::envelope::{Header, MessageKind, RequestId};
use crate::protocol::Revision;

/// A client message that waits for the tool list. It is checked when it is released.
#[derive(Debug)]
pub(crate) struct HeldMessage {
    pub(crate) bytes: Vec<u8>,
    /// The ids that it reserves.
    ids: Vec<RequestId>,
    is_batch: bool,
    /// The revision that its request declares.
    pub(crate) revision: Option<Revision>,
}

impl PendingRequests {
    /// Holds a message and reserves the ids of its requests.
    pub(crate) fn hold(
        &mut self,
        bytes: Vec<u8>,
        header: &Header,
        revision: Option<Revision>,
        deadline: Duration,
    ) {
        let mut ids = Vec::new();
        for id in header.requests() {
            // An id that is in use stays with its request; the duplicate is rejected on release.
            if let btree_map::Entry::Vacant(free) = self.by_id.entry(id.clone()) {
                free.insert(Entry::Held);
                ids.push(id.clone());
            }
        }
        self.held_ids += ids.len();
        let is_batch = header.kind == MessageKind::Batch;
        self.held.push_back(HeldMessage { bytes, ids, is_batch, revision });
        self.hold_deadline.get_or_insert(deadline);
    }

    pub(crate) fn first_held(&self) -> Option<&HeldMessage> {
        self.held.front()
    }

    pub(crate) fn hold_deadline(&self) -> Option<Duration> {
        self.hold_deadline
    }

    /// Takes all held messages and frees their ids, so that they can be checked.
    pub(crate) fn release(&mut self) -> VecDeque<HeldMessage> {
        self.hold_deadline = None;
        let held = std::mem::take(&mut self.held);
        for id in held.iter().flat_map(|message| &message.ids) {
            self.by_id.remove(id);
        }
        self.held_ids = 0;
        held
    }

    /// Cancels a held request and discards its message; returns whether it did. A request in a held batch
    /// is not cancelled, because its message contains others.
    pub(crate) fn cancel_held(&mut self, id: &RequestId) -> bool {
        let is_it = |message: &HeldMessage| !message.is_batch && message.ids.contains(id);
        let Some(index) = self.held.iter().position(is_it) else { return false };
        self.held.remove(index);
        self.by_id.remove(id);
        self.held_ids -= 1;
        if self.held.is_empty() {
            self.hold_deadline = None;
        }
        self.completed.remember(id, Outcome::Cancelled);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Header, MessageKind, PendingRequests, RequestId};
    use crate::connection::pending::{Match, PendingRequest};

    const DEADLINE: Duration = Duration::from_secs(5);

    fn id(number: i64) -> RequestId {
        RequestId::Integer(number)
    }

    fn request(number: i64) -> Header {
        Header { kind: MessageKind::Request, id: Some(id(number)), ..Header::default() }
    }

    #[test]
    fn held_request_reserves_its_id_until_it_is_released() {
        let mut requests = PendingRequests::new(10);
        requests.hold(b"a".to_vec(), &request(1), None, DEADLINE);
        assert!(requests.is_pending(&id(1)) && requests.is_held(&id(1)));
        assert_eq!((requests.len(), requests.hold_deadline()), (0, Some(DEADLINE)));
        assert!(matches!(requests.find(&id(1)), Match::Unknown), "the server has not received it");
        assert!(requests.complete(&id(1)).is_none() && requests.is_held(&id(1)));
        assert_eq!(requests.release().len(), 1);
        assert!(!requests.is_pending(&id(1)) && requests.hold_deadline().is_none());
    }

    #[test]
    fn held_duplicate_does_not_replace_the_forwarded_request() {
        let mut requests = PendingRequests::new(10);
        requests.start(id(1), PendingRequest::default());
        requests.hold(b"a".to_vec(), &request(1), None, DEADLINE);
        assert!(!requests.is_held(&id(1)) && !requests.cancel_held(&id(1)));
        requests.release();
        assert!(requests.complete(&id(1)).is_some());
    }

    #[test]
    fn held_request_is_cancelled_unless_it_is_part_of_a_batch() {
        let mut requests = PendingRequests::new(10);
        requests.hold(b"a".to_vec(), &request(1), None, DEADLINE);
        let batch = Header::of_batch(vec![request(2), request(3)]);
        requests.hold(b"b".to_vec(), &batch, None, DEADLINE);
        assert!(requests.cancel_held(&id(1)) && !requests.cancel_held(&id(2)));
        assert!(matches!(requests.find(&id(1)), Match::Cancelled));
        assert!(requests.is_held(&id(2)) && requests.hold_deadline().is_some());
        assert_eq!(requests.release().len(), 1);
    }
}
