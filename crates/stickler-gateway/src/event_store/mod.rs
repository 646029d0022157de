//! Event store for the SSE streams of a session, which allows clients to resume them.
//!
//! An event id consists of the session's tag, the stream and the position, so each stream can be resumed
//! independently. The store is small: clients reconnect quickly, and stored events must not use more memory
//! than the session's server.

pub(crate) mod streams;

use std::collections::VecDeque;

use bytes::Bytes;
use stickler::{MemoryBudget, Reservation};
use stickler_protocol::frame::sse_event_with_id;

/// Maximum number of stored events per session; more than a client misses during a reconnect.
const MAX_EVENTS: usize = 256;

/// Maximum size of the stored events, excluding the newest. The newest event is always stored: the larger a
/// response, the more likely the connection breaks while it is sent.
const MAX_BYTES: usize = 4 << 20;

/// Estimated memory of an event, beside its message.
const EVENT_OVERHEAD_BYTES: usize = 128;

/// The most recent events of all streams of a session.
#[derive(Debug)]
pub(crate) struct EventStore {
    /// Distinguishes the event ids of different sessions.
    tag: String,
    stored: VecDeque<StoredEvent>,
    bytes: usize,
    /// The memory of the process. Events that were sent are evicted while it is exceeded.
    memory: MemoryBudget,
}

#[derive(Debug)]
struct StoredEvent {
    _memory: Reservation,
    stream: u64,
    position: u64,
    message: Bytes,
    /// The event was sent to a client, but may not have arrived.
    is_read: bool,
}

/// An event to store; `is_read` if it is being sent to a client.
pub(crate) struct NewEvent<'m> {
    pub(crate) stream: u64,
    pub(crate) position: u64,
    pub(crate) message: &'m Bytes,
    pub(crate) is_read: bool,
}

impl EventStore {
    pub(crate) fn new(tag: String) -> Self {
        Self { tag, stored: VecDeque::new(), bytes: 0, memory: MemoryBudget::default() }
    }

    /// Counts the events towards a budget.
    pub(crate) fn with_memory(self, memory: &MemoryBudget) -> Self {
        Self { memory: memory.clone(), ..self }
    }

    /// Stores an event. Returns the streams of evicted events, and whether each event was unread.
    pub(crate) fn store(&mut self, event: &NewEvent<'_>) -> Vec<(u64, bool)> {
        let NewEvent { stream, position, message, is_read } = *event;
        let mut evicted = Vec::new();
        let reservation = self.memory.charge(message.len() + EVENT_OVERHEAD_BYTES);
        loop {
            let is_full = self.stored.len() >= MAX_EVENTS || self.bytes > MAX_BYTES;
            // Evict events that were sent first. Unread ones are not evicted for other sessions.
            let read = self.stored.iter().position(|one| one.is_read);
            let index = match read {
                Some(index) if is_full || self.memory.is_exceeded() => index,
                None if is_full => 0,
                _ => break,
            };
            let Some(one) = self.stored.remove(index) else { break };
            self.bytes -= one.message.len();
            evicted.push((one.stream, !one.is_read));
        }
        self.bytes += message.len();
        let message = message.clone();
        self.stored.push_back(StoredEvent {
            _memory: reservation,
            stream,
            position,
            message,
            is_read,
        });
        evicted
    }

    /// Whether events of a stream are stored.
    pub(crate) fn has(&self, stream: u64) -> bool {
        self.stored.iter().any(|one| one.stream == stream)
    }

    /// Returns the position of the first unread event of a stream.
    pub(crate) fn unread(&self, stream: u64) -> Option<u64> {
        let mut unread = self.stored.iter().filter(|one| one.stream == stream && !one.is_read);
        unread.next().map(|one| one.position)
    }

    /// Returns the events of a stream from a position on and marks them as read. Also returns the position
    /// of the first one.
    pub(crate) fn read_from(&mut self, stream: u64, position: u64) -> (Vec<Bytes>, Option<u64>) {
        let mut events = Vec::new();
        let mut first = None;
        for one in
            self.stored.iter_mut().filter(|one| one.stream == stream && one.position >= position)
        {
            one.is_read = true;
            first.get_or_insert(one.position);
            let id = id(&self.tag, stream, one.position);
            events.push(sse_event_with_id(&id, &one.message).into());
        }
        (events, first)
    }

    /// Formats an event with its id.
    pub(crate) fn event(&self, stream: u64, position: u64, message: &[u8]) -> Bytes {
        sse_event_with_id(&id(&self.tag, stream, position), message).into()
    }

    /// Formats an event without a message, which gives the client an id to resume from.
    pub(crate) fn priming_event(&self, stream: u64, position: u64) -> Bytes {
        format!("id: {}\ndata: \n\n", id(&self.tag, stream, position)).into()
    }

    /// Parses an event id of this session into stream and position.
    pub(crate) fn parse_id(&self, id: &str) -> Option<(u64, u64)> {
        let rest = id.strip_prefix(&self.tag)?.strip_prefix('-')?;
        let (stream, position) = rest.split_once('-')?;
        Some((stream.parse().ok()?, position.parse().ok()?))
    }
}

fn id(tag: &str, stream: u64, position: u64) -> String {
    format!("{tag}-{stream}-{position}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(store: &mut EventStore, stream: u64, position: u64, length: usize, is_read: bool) {
        let message = Bytes::from(vec![b'x'; length]);
        store.store(&NewEvent { stream, position, message: &message, is_read });
    }

    fn positions(store: &EventStore, stream: u64) -> Vec<u64> {
        store.stored.iter().filter(|one| one.stream == stream).map(|one| one.position).collect()
    }

    #[test]
    fn event_id_is_parsed_only_in_its_session() {
        let (one, other) = (EventStore::new("a1".into()), EventStore::new("a2".into()));
        let event = one.event(7, 3, b"{}");
        assert_eq!(event, "id: a1-7-3\nevent: message\ndata: {}\n\n");
        assert_eq!(one.parse_id("a1-7-3"), Some((7, 3)));
        assert_eq!(other.parse_id("a1-7-3"), None);
        for invalid in ["", "a1", "a1-", "a1-7", "a1-7-", "a1-7-x", "a1-7-3-1", "a1--1-1"] {
            assert_eq!(one.parse_id(invalid), None, "{invalid:?}");
        }
    }

    #[test]
    fn number_of_stored_events_is_limited() {
        let mut store = EventStore::new("t".into());
        for position in 1..=2000 {
            add(&mut store, 0, position, 1, false);
        }
        assert_eq!(store.stored.len(), MAX_EVENTS);
        let (events, first) = store.read_from(0, 1);
        assert_eq!((events.len(), first), (MAX_EVENTS, Some(2001 - MAX_EVENTS as u64)));
    }

    #[test]
    fn size_of_stored_events_is_limited_except_for_the_newest() {
        let mut store = EventStore::new("t".into());
        for position in 1..=20 {
            add(&mut store, 0, position, 1 << 20, false);
        }
        assert!(store.bytes <= MAX_BYTES + (2 << 20), "{}", store.bytes);
        add(&mut store, 0, 21, MAX_BYTES * 3, false);
        assert_eq!(positions(&store, 0).last(), Some(&21));
        add(&mut store, 0, 22, 1, false);
        assert_eq!(positions(&store, 0), [22], "the large event is no longer the newest");
        assert_eq!(store.bytes, 1);
    }

    #[test]
    fn read_events_are_evicted_when_the_memory_of_the_process_is_exceeded() {
        let memory = MemoryBudget::new(3000);
        let mut store = EventStore::new("t".into()).with_memory(&memory);
        let elsewhere = memory.charge(1000);
        for position in 1..=20 {
            add(&mut store, 0, position, 100, position != 5);
        }
        assert!(memory.used() <= 3000, "{}", memory.used());
        assert!(positions(&store, 0).contains(&5), "an unread event stays");
        drop((elsewhere, store));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn read_events_are_evicted_before_unread_events() {
        let mut store = EventStore::new("t".into());
        add(&mut store, 5, 1, 1, false);
        for position in 1..=1000 {
            add(&mut store, 0, position, 1, true);
        }
        assert_eq!((positions(&store, 5), store.unread(5)), (vec![1], Some(1)));
        assert_eq!(store.unread(0), None);
        store.read_from(5, 0);
        assert_eq!(store.unread(5), None);
        add(&mut store, 0, 1001, 1, true);
        assert!(!store.has(5) && store.has(0));
    }
}
