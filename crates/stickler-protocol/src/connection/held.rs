//! Held messages: calls that wait for the tool list or for work, in order of arrival.
//!
//! A held message reserves the ids of its requests in the table of pending requests. It can be cancelled, and
//! it is checked from its bytes when it is released.

use std::collections::{VecDeque, btree_map};
use std::fmt;
use std::time::Duration;

use stickler::{MemoryBudget, Reservation};

use super::RequestContext;
use super::inspect::ListUse;
use super::pending::{Entry, PendingRequests};
use super::recently_completed::Outcome;
use crate::envelope::{Header, MessageKind, RequestId};
use crate::protocol::Revision;

/// A client message that waits. It is checked when it is released.
#[derive(Debug)]
pub(crate) struct HeldMessage {
    pub(crate) bytes: Vec<u8>,
    /// How the tool list is used when it is checked after its work.
    pub(crate) list: ListUse,
    pub(crate) context: RequestContext,
    /// The number of the work that it waits for; `None` if it waits for the tool list.
    work: Option<u64>,
    /// The ids that it reserves.
    ids: Vec<RequestId>,
    is_batch: bool,
    /// Counts its bytes towards the memory of the process.
    memory: Reservation,
    /// The revision that its request declares.
    pub(crate) revision: Option<Revision>,
}

/// A message to hold: its bytes, how it uses the tool list, and its context.
pub(super) type Message = (Vec<u8>, ListUse, RequestContext);

/// Maximum size of the held messages of a connection.
const MAX_HELD_BYTES: usize = 64 << 20;

/// Estimated memory of a held message, beside its bytes.
const MESSAGE_OVERHEAD_BYTES: usize = 1 << 10;

/// Why a message cannot be held. Its calls are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// The limit of pending requests is reached.
    Requests(usize),
    /// The held messages of the connection reach their limit.
    Connection,
    /// The messages and lists of all connections reach the limit of the process.
    Process(usize),
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call cannot wait for the tool list; try again later: ")?;
        match self {
            Self::Requests(number) => write!(f, "{number} requests are already pending"),
            Self::Connection => {
                write!(f, "the calls that wait reach the limit of {} MiB", MAX_HELD_BYTES >> 20)
            }
            Self::Process(limit) => {
                write!(f, "the messages of all clients reach the limit of {limit} bytes")
            }
        }
    }
}

impl PendingRequests {
    /// Reserves memory to hold a message.
    pub(crate) fn reserve_memory(
        &self,
        bytes: usize,
        memory: &MemoryBudget,
    ) -> Result<Reservation, NoRoom> {
        if self.by_id.len().max(self.held.len()) >= self.limit {
            return Err(NoRoom::Requests(self.by_id.len()));
        }
        let bytes = bytes.saturating_add(MESSAGE_OVERHEAD_BYTES);
        // One message is always held, whatever its size.
        if !self.held.is_empty() && self.held_bytes.saturating_add(bytes) > MAX_HELD_BYTES {
            return Err(NoRoom::Connection);
        }
        memory.reserve(bytes).ok_or(NoRoom::Process(memory.limit()))
    }

    /// Holds a message until the tool list arrives, and reserves the ids of its requests.
    pub(crate) fn hold(
        &mut self,
        message: Message,
        header: &Header,
        revision: Option<Revision>,
        (deadline, memory): (Duration, Reservation),
    ) {
        self.reserve(message, header, revision, (None, memory));
        self.hold_deadline.get_or_insert(deadline);
    }

    /// Holds a message until work is done, and reserves the ids of its requests. Returns the number of the work.
    pub(crate) fn hold_for_work(
        &mut self,
        message: Message,
        header: &Header,
        revision: Option<Revision>,
        memory: Reservation,
    ) -> u64 {
        self.next_work += 1;
        self.reserve(message, header, revision, (Some(self.next_work), memory));
        self.next_work
    }

    fn reserve(
        &mut self,
        (bytes, list, context): Message,
        header: &Header,
        revision: Option<Revision>,
        (work, memory): (Option<u64>, Reservation),
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
        self.held_bytes += memory.bytes();
        let held = HeldMessage { bytes, list, context, work, ids, is_batch, memory, revision };
        self.held.push_back(held);
    }

    pub(crate) fn first_held(&self) -> Option<&HeldMessage> {
        self.held.front()
    }

    pub(crate) fn hold_deadline(&self) -> Option<Duration> {
        self.hold_deadline
    }

    /// Returns whether a message waits for the tool list.
    pub(crate) fn waits_for_list(&self) -> bool {
        self.held.iter().any(|message| message.work.is_none())
    }

    /// Takes the messages that wait for the tool list and frees their ids, so that they can be checked.
    pub(crate) fn release(&mut self) -> VecDeque<HeldMessage> {
        self.hold_deadline = None;
        self.take_held(|message| message.work.is_none())
    }

    /// Takes the message that waits for that work and frees its ids.
    pub(crate) fn release_prepared(&mut self, work: u64) -> Option<HeldMessage> {
        self.take_held(|message| message.work == Some(work)).pop_front()
    }

    /// Takes all held messages and frees their ids.
    pub(crate) fn release_all(&mut self) -> VecDeque<HeldMessage> {
        self.hold_deadline = None;
        self.take_held(|_| true)
    }

    fn take_held(&mut self, is_taken: impl Fn(&HeldMessage) -> bool) -> VecDeque<HeldMessage> {
        let held = std::mem::take(&mut self.held);
        let (taken, kept): (VecDeque<_>, VecDeque<_>) = held.into_iter().partition(is_taken);
        self.held = kept;
        for message in &taken {
            self.held_bytes -= message.memory.bytes();
        }
        for id in taken.iter().flat_map(|message| &message.ids) {
            self.by_id.remove(id);
            self.held_ids -= 1;
        }
        taken
    }

    /// Returns whether the id is that of a held request which is not part of a batch.
    pub(crate) fn is_single_held(&self, id: &RequestId) -> bool {
        self.held.iter().any(|message| !message.is_batch && message.ids.contains(id))
    }

    /// Cancels a held request and discards its message; returns whether it did. A request in a held batch
    /// is not cancelled, because its message contains others.
    pub(crate) fn cancel_held(&mut self, id: &RequestId) -> bool {
        let is_it = |message: &HeldMessage| !message.is_batch && message.ids.contains(id);
        let Some(index) = self.held.iter().position(is_it) else { return false };
        if let Some(message) = self.held.remove(index) {
            self.held_bytes -= message.memory.bytes();
        }
        self.by_id.remove(id);
        self.held_ids -= 1;
        if !self.waits_for_list() {
            self.hold_deadline = None;
        }
        self.completed.remember(id, Outcome::Cancelled);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        Header, ListUse, MemoryBudget, Message, MessageKind, PendingRequests, RequestContext,
        RequestId, Reservation,
    };
    use crate::connection::pending::{Match, PendingRequest};

    const DEADLINE: Duration = Duration::from_secs(5);

    fn message(text: &str) -> Message {
        (text.into(), ListUse::AsIs, RequestContext::default())
    }

    fn memory() -> Reservation {
        MemoryBudget::default().charge(1)
    }

    fn id(number: i64) -> RequestId {
        RequestId::Integer(number)
    }

    fn request(number: i64) -> Header {
        Header { kind: MessageKind::Request, id: Some(id(number)), ..Header::default() }
    }

    #[test]
    fn held_request_reserves_its_id_until_it_is_released() {
        let mut requests = PendingRequests::new(10);
        requests.hold(message("a"), &request(1), None, (DEADLINE, memory()));
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
        requests.hold(message("a"), &request(1), None, (DEADLINE, memory()));
        assert!(!requests.is_held(&id(1)) && !requests.cancel_held(&id(1)));
        requests.release();
        assert!(requests.complete(&id(1)).is_some());
    }

    #[test]
    fn held_request_is_cancelled_unless_it_is_part_of_a_batch() {
        let mut requests = PendingRequests::new(10);
        requests.hold(message("a"), &request(1), None, (DEADLINE, memory()));
        let batch = Header::of_batch(vec![request(2), request(3)]);
        requests.hold(message("b"), &batch, None, (DEADLINE, memory()));
        assert!(requests.cancel_held(&id(1)) && !requests.cancel_held(&id(2)));
        assert!(matches!(requests.find(&id(1)), Match::Cancelled));
        assert!(requests.is_held(&id(2)) && requests.hold_deadline().is_some());
        assert_eq!(requests.release().len(), 1);
    }
}
