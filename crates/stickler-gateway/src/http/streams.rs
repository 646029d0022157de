//! The streams of a session: who reads them, and how they are taken up again.
//!
//! A connection that breaks ends nobody's request: what comes for its stream is kept until the client
//! comes back for it, with the id of the last event that it has seen.

use std::collections::HashMap;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::mail::{Parcel, UNREAD};
use super::replay::{Entry, Replay};

/// The stream for what belongs to no request.
pub(super) const LISTENER: u64 = 0;

/// All streams of a session that can be taken up.
#[derive(Debug)]
pub(super) struct Streams {
    replay: Replay,
    table: HashMap<u64, Stream>,
    readers: u64,
    /// Messages that had to go before anybody read them.
    lost: usize,
}

#[derive(Debug, Default)]
struct Stream {
    /// The place of its newest event.
    newest: u64,
    /// Nothing more will come.
    is_over: bool,
    reader: Option<Reader>,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    sender: Option<mpsc::Sender<Parcel>>,
    receiver: mpsc::Receiver<Parcel>,
    waker: Option<Waker>,
}

/// A stream as its reader gets it.
pub(super) struct TakenUp {
    /// What is there already.
    pub(super) events: Vec<Bytes>,
    /// The stream and its reader, where more is to come.
    pub(super) live: Option<(u64, u64)>,
    /// Some of what was missed is no longer kept.
    pub(super) has_gap: bool,
}

/// What becomes of something that could not be handed to a reader.
pub(super) enum Unread {
    /// It waits for the client to come back.
    Kept,
    /// The client has come back.
    HandOver(mpsc::Sender<Parcel>, Parcel),
    /// Nobody can come back for it.
    Lost,
}

impl Streams {
    pub(super) fn new(tag: String) -> Self {
        let table = HashMap::from([(LISTENER, Stream::default())]);
        Self { replay: Replay::new(tag), table, readers: 0, lost: 0 }
    }

    /// Whether a stream can be taken up.
    pub(super) fn knows(&self, stream: u64) -> bool {
        self.table.contains_key(&stream)
    }

    /// The way to whoever reads a stream now.
    pub(super) fn live(&self, stream: u64) -> Option<mpsc::Sender<Parcel>> {
        self.table.get(&stream)?.reader.as_ref()?.sender.clone()
    }

    pub(super) fn is_read(&self) -> bool {
        self.table.values().any(|stream| stream.reader.is_some())
    }

    /// How many messages have gone unread since this was last asked.
    pub(super) fn take_lost(&mut self) -> usize {
        std::mem::take(&mut self.lost)
    }

    /// A POST becomes a stream; its first messages as events.
    pub(super) fn begin(
        &mut self,
        stream: u64,
        sender: Option<mpsc::Sender<Parcel>>,
        receiver: mpsc::Receiver<Parcel>,
        first: &[Bytes],
    ) -> TakenUp {
        self.table.insert(stream, Stream::default());
        let events = first.iter().map(|message| self.record(stream, message)).collect();
        let reader = self.attach(stream, sender, receiver);
        TakenUp { events, live: Some((stream, reader)), has_gap: false }
    }

    /// The event that a stream begins with: it can be taken up before it has a message.
    pub(super) fn opening(&self, stream: u64) -> Bytes {
        self.replay.opening(stream, 0)
    }

    /// The stream for what belongs to no request, with what nobody has read yet.
    pub(super) fn listen(&mut self) -> TakenUp {
        self.drain(LISTENER);
        let newest = self.table.get(&LISTENER).map_or(0, |stream| stream.newest);
        let place = self.replay.unread(LISTENER).unwrap_or(newest + 1);
        self.read_on(LISTENER, place)
    }

    /// The rest of the stream that an event was on; `None` if there is none with that id.
    pub(super) fn take_up(&mut self, id: &str) -> Option<TakenUp> {
        let (stream, place) = self.replay.place_of(id)?;
        let newest = self.table.get(&stream)?.newest;
        (place <= newest).then(|| {
            self.drain(stream);
            self.read_on(stream, place + 1)
        })
    }

    fn read_on(&mut self, stream: u64, place: u64) -> TakenUp {
        let (events, first) = self.replay.read_from(stream, place);
        let known = self.table.get(&stream);
        let newest = known.map_or(0, |known| known.newest);
        let has_gap = first.unwrap_or(newest + 1) > place;
        let live = known.is_some_and(|known| !known.is_over).then(|| {
            let (sender, receiver) = mpsc::channel(UNREAD);
            (stream, self.attach(stream, Some(sender), receiver))
        });
        TakenUp { events, live, has_gap }
    }

    fn attach(
        &mut self,
        stream: u64,
        sender: Option<mpsc::Sender<Parcel>>,
        receiver: mpsc::Receiver<Parcel>,
    ) -> u64 {
        self.readers += 1;
        let reader = Reader { number: self.readers, sender, receiver, waker: None };
        self.table.entry(stream).or_default().reader = Some(reader);
        self.readers
    }

    /// The next event for a reader; the end, if another has taken its place.
    pub(super) fn poll(
        &mut self,
        (stream, number): (u64, u64),
        context: &mut Context<'_>,
    ) -> Poll<Option<Bytes>> {
        let reader = self.table.get_mut(&stream).and_then(|one| one.reader.as_mut());
        let Some(reader) = reader.filter(|reader| reader.number == number) else {
            return Poll::Ready(None);
        };
        let Poll::Ready(parcel) = reader.receiver.poll_recv(context) else {
            reader.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        match parcel {
            Some(Parcel::Message(message)) => Poll::Ready(Some(self.record(stream, &message))),
            Some(Parcel::Last(message)) => {
                let event = self.record(stream, &message);
                self.end(stream);
                Poll::Ready(Some(event))
            }
            Some(Parcel::End) => {
                self.end(stream);
                Poll::Ready(None)
            }
            Some(Parcel::Forward(_)) | None => {
                self.drain(stream);
                Poll::Ready(None)
            }
        }
    }

    /// A reader has gone: what it was not given is kept.
    pub(super) fn leave(&mut self, (stream, number): (u64, u64)) {
        let reader = self.table.get(&stream).and_then(|one| one.reader.as_ref());
        if reader.is_some_and(|reader| reader.number == number) {
            self.drain(stream);
        }
    }

    /// Nothing more will come on a stream.
    pub(super) fn end(&mut self, stream: u64) {
        if let Some(known) = self.table.get_mut(&stream) {
            known.is_over = true;
            known.reader = None;
            self.tidy(stream);
        }
    }

    /// Nothing more will come on a stream but what is on its way.
    pub(super) fn wind_up(&mut self, stream: u64) {
        self.hang_up(stream);
        if let Some(known) = self.table.get_mut(&stream) {
            known.is_over = true;
            self.tidy(stream);
        }
    }

    /// A reader gets what is on its way, and then the end.
    pub(super) fn hang_up(&mut self, stream: u64) {
        if let Some(reader) = self.table.get_mut(&stream).and_then(|one| one.reader.as_mut()) {
            reader.sender = None;
        }
    }

    pub(super) fn close(&mut self) {
        for reader in self.table.values_mut().filter_map(|one| one.reader.as_mut()) {
            reader.sender = None;
        }
    }

    /// Keeps a message that nobody reads now.
    pub(super) fn keep(&mut self, stream: u64, message: &Bytes) {
        self.note(stream, message, false);
    }

    /// A reader went away while it was to be given something.
    pub(super) fn take_back(&mut self, stream: u64, parcel: Parcel) -> Unread {
        if !self.knows(stream) {
            return Unread::Lost;
        }
        if let Some(sender) = self.live(stream).filter(|sender| !sender.is_closed()) {
            return Unread::HandOver(sender, parcel);
        }
        self.put(stream, parcel);
        Unread::Kept
    }

    /// Takes the place from whoever reads a stream, and keeps what was not read.
    fn drain(&mut self, stream: u64) {
        let reader = self.table.get_mut(&stream).and_then(|one| one.reader.take());
        let Some(mut reader) = reader else { return };
        reader.receiver.close();
        while let Ok(parcel) = reader.receiver.try_recv() {
            self.put(stream, parcel);
        }
        if let Some(waker) = reader.waker {
            waker.wake();
        }
        self.tidy(stream);
    }

    fn put(&mut self, stream: u64, parcel: Parcel) {
        match parcel {
            Parcel::Message(message) => self.keep(stream, &message),
            Parcel::Last(message) => {
                self.keep(stream, &message);
                self.end(stream);
            }
            Parcel::End => self.end(stream),
            Parcel::Forward(_) => {}
        }
    }

    /// Keeps a message that a reader gets, and gives it as an event.
    fn record(&mut self, stream: u64, message: &Bytes) -> Bytes {
        let place = self.note(stream, message, true);
        self.replay.event(stream, place, message)
    }

    fn note(&mut self, stream: u64, message: &Bytes, is_read: bool) -> u64 {
        let known = self.table.entry(stream).or_default();
        known.newest += 1;
        let place = known.newest;
        for (other, is_lost) in self.replay.keep(&Entry { stream, place, message, is_read }) {
            self.lost += usize::from(is_lost);
            self.tidy(other);
        }
        place
    }

    /// A stream that is over is known for as long as something of it is.
    fn tidy(&mut self, stream: u64) {
        let is_done = |known: &Stream| known.is_over && known.reader.is_none();
        if self.table.get(&stream).is_some_and(is_done) && !self.replay.has(stream) {
            self.table.remove(&stream);
        }
    }
}

#[cfg(test)]
mod tests;
