//! What was said on the streams of a session, kept for those who come back for it.
//!
//! The id of an event names the session, the stream and the place there, so that each stream can be
//! taken up for itself. Not much is kept: a client that lost its connection comes back soon, and a
//! session must not cost more for what it said than for its server.

use std::collections::VecDeque;

use bytes::Bytes;
use stickler_protocol::frame::sse_event_with_id;

/// Events of a session that are kept: more than a client misses while it connects again.
const MOST: usize = 256;

/// Their bytes, beside those of the newest, which is kept however long it is: the longer an answer,
/// the likelier it is that the connection breaks under it.
const MOST_BYTES: usize = 4 << 20;

/// The last events of all streams of a session.
#[derive(Debug)]
pub(super) struct Replay {
    /// Tells the ids of one session from those of others.
    tag: String,
    kept: VecDeque<Kept>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    stream: u64,
    place: u64,
    message: Bytes,
    /// Somebody was given it, though it may not have arrived.
    is_read: bool,
}

/// An event, its place in its stream, and whether somebody is given it now.
pub(super) struct Entry<'m> {
    pub(super) stream: u64,
    pub(super) place: u64,
    pub(super) message: &'m Bytes,
    pub(super) is_read: bool,
}

impl Replay {
    pub(super) fn new(tag: String) -> Self {
        Self { tag, kept: VecDeque::new(), bytes: 0 }
    }

    /// Keeps an event; gives the streams of those that had to go for it, and whether nobody has
    /// read them.
    pub(super) fn keep(&mut self, entry: &Entry<'_>) -> Vec<(u64, bool)> {
        let Entry { stream, place, message, is_read } = *entry;
        let mut gone = Vec::new();
        while self.kept.len() >= MOST || self.bytes > MOST_BYTES {
            // First what somebody may have got already.
            let index = self.kept.iter().position(|one| one.is_read).unwrap_or_default();
            let Some(one) = self.kept.remove(index) else { break };
            self.bytes -= one.message.len();
            gone.push((one.stream, !one.is_read));
        }
        self.bytes += message.len();
        self.kept.push_back(Kept { stream, place, message: message.clone(), is_read });
        gone
    }

    /// Whether something of a stream is kept.
    pub(super) fn has(&self, stream: u64) -> bool {
        self.kept.iter().any(|one| one.stream == stream)
    }

    /// The place of the first event of a stream that nobody has read.
    pub(super) fn unread(&self, stream: u64) -> Option<u64> {
        let mut unread = self.kept.iter().filter(|one| one.stream == stream && !one.is_read);
        unread.next().map(|one| one.place)
    }

    /// The events of a stream from a place on, which are read now; and the first place that there
    /// is.
    pub(super) fn read_from(&mut self, stream: u64, place: u64) -> (Vec<Bytes>, Option<u64>) {
        let mut events = Vec::new();
        let mut first = None;
        for one in self.kept.iter_mut().filter(|one| one.stream == stream && one.place >= place) {
            one.is_read = true;
            first.get_or_insert(one.place);
            let id = id(&self.tag, stream, one.place);
            events.push(sse_event_with_id(&id, &one.message).into());
        }
        (events, first)
    }

    /// An event with its id.
    pub(super) fn event(&self, stream: u64, place: u64, message: &[u8]) -> Bytes {
        sse_event_with_id(&id(&self.tag, stream, place), message).into()
    }

    /// An event without a message, which only gives a stream a place to be taken up from.
    pub(super) fn opening(&self, stream: u64, place: u64) -> Bytes {
        format!("id: {}\ndata: \n\n", id(&self.tag, stream, place)).into()
    }

    /// The stream and the place that an id of this session names.
    pub(super) fn place_of(&self, id: &str) -> Option<(u64, u64)> {
        let rest = id.strip_prefix(&self.tag)?.strip_prefix('-')?;
        let (stream, place) = rest.split_once('-')?;
        Some((stream.parse().ok()?, place.parse().ok()?))
    }
}

fn id(tag: &str, stream: u64, place: u64) -> String {
    format!("{tag}-{stream}-{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(replay: &mut Replay, stream: u64, place: u64, length: usize, is_read: bool) {
        let message = Bytes::from(vec![b'x'; length]);
        replay.keep(&Entry { stream, place, message: &message, is_read });
    }

    fn places(replay: &Replay, stream: u64) -> Vec<u64> {
        replay.kept.iter().filter(|one| one.stream == stream).map(|one| one.place).collect()
    }

    #[test]
    fn ids_lead_back_to_their_place_in_their_own_session() {
        let (one, other) = (Replay::new("a1".into()), Replay::new("a2".into()));
        let event = one.event(7, 3, b"{}");
        assert_eq!(event, "id: a1-7-3\nevent: message\ndata: {}\n\n");
        assert_eq!(one.place_of("a1-7-3"), Some((7, 3)));
        assert_eq!(other.place_of("a1-7-3"), None);
        for odd in ["", "a1", "a1-", "a1-7", "a1-7-", "a1-7-x", "a1-7-3-1", "a1--1-1"] {
            assert_eq!(one.place_of(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_by_number() {
        let mut replay = Replay::new("t".into());
        for place in 1..=2000 {
            keep(&mut replay, 0, place, 1, false);
        }
        assert_eq!(replay.kept.len(), MOST);
        let (events, first) = replay.read_from(0, 1);
        assert_eq!((events.len(), first), (MOST, Some(2001 - MOST as u64)));
    }

    #[test]
    fn what_is_kept_is_bounded_by_bytes_but_the_newest_is_kept() {
        let mut replay = Replay::new("t".into());
        for place in 1..=20 {
            keep(&mut replay, 0, place, 1 << 20, false);
        }
        assert!(replay.bytes <= MOST_BYTES + (2 << 20), "{}", replay.bytes);
        keep(&mut replay, 0, 21, MOST_BYTES * 3, false);
        assert_eq!(places(&replay, 0).last(), Some(&21));
        keep(&mut replay, 0, 22, 1, false);
        assert_eq!(places(&replay, 0), [22], "the long one had its time");
        assert_eq!(replay.bytes, 1);
    }

    #[test]
    fn what_was_read_goes_before_what_was_not() {
        let mut replay = Replay::new("t".into());
        keep(&mut replay, 5, 1, 1, false);
        for place in 1..=1000 {
            keep(&mut replay, 0, place, 1, true);
        }
        assert_eq!((places(&replay, 5), replay.unread(5)), (vec![1], Some(1)));
        assert_eq!(replay.unread(0), None);
        replay.read_from(5, 0);
        assert_eq!(replay.unread(5), None);
        keep(&mut replay, 0, 1001, 1, true);
        assert!(!replay.has(5) && replay.has(0));
    }
}
