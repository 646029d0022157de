//! The resumable SSE streams of a session and their readers.
//!
//! A broken connection does not cancel a request: messages for its stream are stored until the client resumes
//! it with the id of the last event that it received.

use std::collections::HashMap;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use stickler::MemoryBudget;
use tokio::sync::mpsc;

use crate::driver::message::Message;
use crate::driver::pending_responses::{Delivery, READER_QUEUE_CAPACITY};
use crate::event_store::{EventStore, NewEvent};

/// The stream for messages that belong to no request.
pub(crate) const STANDALONE_STREAM: u64 = 0;

/// All resumable streams of a session.
#[derive(Debug)]
pub(crate) struct Streams {
    events: EventStore,
    table: HashMap<u64, Stream>,
    readers: u64,
    /// Number of messages that were evicted unread.
    lost: usize,
}

#[derive(Debug, Default)]
struct Stream {
    /// The position of the newest event.
    newest: u64,
    /// No more messages will be added.
    is_ended: bool,
    reader: Option<Reader>,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    sender: Option<mpsc::Sender<Delivery>>,
    receiver: mpsc::Receiver<Delivery>,
    waker: Option<Waker>,
}

/// A stream that a client starts or continues to read.
pub(crate) struct ResumedStream {
    /// The stored events.
    pub(crate) events: Vec<Bytes>,
    /// The stream and its reader, if more events may follow.
    pub(crate) live: Option<(u64, u64)>,
    /// Some of the missed events were evicted.
    pub(crate) has_gap: bool,
}

/// What happens to a delivery that could not be sent to a reader.
pub(crate) enum Undelivered {
    /// It is stored until the client resumes the stream.
    Stored,
    /// The client has resumed the stream; send it to the new reader.
    Redeliver(mpsc::Sender<Delivery>, Delivery),
    /// The stream cannot be resumed.
    Lost,
}

impl Streams {
    pub(crate) fn new(tag: String) -> Self {
        let table = HashMap::from([(STANDALONE_STREAM, Stream::default())]);
        Self { events: EventStore::new(tag), table, readers: 0, lost: 0 }
    }

    /// Counts the stored events towards a budget.
    pub(crate) fn with_memory(self, memory: &MemoryBudget) -> Self {
        Self { events: self.events.with_memory(memory), ..self }
    }

    /// Whether a stream can be resumed.
    pub(crate) fn contains(&self, stream: u64) -> bool {
        self.table.contains_key(&stream)
    }

    /// Returns the channel to the current reader of a stream.
    pub(crate) fn live(&self, stream: u64) -> Option<mpsc::Sender<Delivery>> {
        self.table.get(&stream)?.reader.as_ref()?.sender.clone()
    }

    pub(crate) fn is_read(&self) -> bool {
        self.table.values().any(|stream| stream.reader.is_some())
    }

    /// Returns and resets the number of messages that were evicted unread.
    pub(crate) fn take_lost(&mut self) -> usize {
        std::mem::take(&mut self.lost)
    }

    /// Opens the stream of a POST with its first messages.
    pub(crate) fn open(
        &mut self,
        stream: u64,
        sender: Option<mpsc::Sender<Delivery>>,
        receiver: mpsc::Receiver<Delivery>,
        first: &[Message],
    ) -> ResumedStream {
        self.table.insert(stream, Stream::default());
        let events = first.iter().map(|message| self.record(stream, &message.bytes)).collect();
        let reader = self.attach(stream, sender, receiver);
        ResumedStream { events, live: Some((stream, reader)), has_gap: false }
    }

    /// Returns the initial event of a stream, which makes it resumable before its first message.
    pub(crate) fn priming_event(&self, stream: u64) -> Bytes {
        self.events.priming_event(stream, 0)
    }

    /// Opens the standalone stream, starting with the unread events.
    pub(crate) fn listen(&mut self) -> ResumedStream {
        self.drain(STANDALONE_STREAM);
        let newest = self.table.get(&STANDALONE_STREAM).map_or(0, |stream| stream.newest);
        let position = self.events.unread(STANDALONE_STREAM).unwrap_or(newest + 1);
        self.resume_at(STANDALONE_STREAM, position)
    }

    /// Resumes the stream after the event with that id. Returns `None` if the id is unknown.
    pub(crate) fn resume(&mut self, id: &str) -> Option<ResumedStream> {
        let (stream, position) = self.events.parse_id(id)?;
        let newest = self.table.get(&stream)?.newest;
        (position <= newest).then(|| {
            self.drain(stream);
            self.resume_at(stream, position + 1)
        })
    }

    fn resume_at(&mut self, stream: u64, position: u64) -> ResumedStream {
        let (events, first) = self.events.read_from(stream, position);
        let entry = self.table.get(&stream);
        let newest = entry.map_or(0, |entry| entry.newest);
        let has_gap = first.unwrap_or(newest + 1) > position;
        let live = entry.is_some_and(|entry| !entry.is_ended).then(|| {
            let (sender, receiver) = mpsc::channel(READER_QUEUE_CAPACITY);
            (stream, self.attach(stream, Some(sender), receiver))
        });
        ResumedStream { events, live, has_gap }
    }

    fn attach(
        &mut self,
        stream: u64,
        sender: Option<mpsc::Sender<Delivery>>,
        receiver: mpsc::Receiver<Delivery>,
    ) -> u64 {
        self.readers += 1;
        let reader = Reader { number: self.readers, sender, receiver, waker: None };
        self.table.entry(stream).or_default().reader = Some(reader);
        self.readers
    }

    /// Polls the next event for a reader. The stream ends if another reader has replaced it.
    pub(crate) fn poll(
        &mut self,
        (stream, number): (u64, u64),
        context: &mut Context<'_>,
    ) -> Poll<Option<Bytes>> {
        let reader = self.table.get_mut(&stream).and_then(|one| one.reader.as_mut());
        let Some(reader) = reader.filter(|reader| reader.number == number) else {
            return Poll::Ready(None);
        };
        let Poll::Ready(delivery) = reader.receiver.poll_recv(context) else {
            reader.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        match delivery {
            Some(Delivery::Message(message)) => {
                Poll::Ready(Some(self.record(stream, &message.bytes)))
            }
            Some(Delivery::Last(message)) => {
                let event = self.record(stream, &message.bytes);
                self.end(stream);
                Poll::Ready(Some(event))
            }
            Some(Delivery::End) => {
                self.end(stream);
                Poll::Ready(None)
            }
            Some(Delivery::Forward(_)) | None => {
                self.drain(stream);
                Poll::Ready(None)
            }
        }
    }

    /// Detaches a reader and stores what it has not received.
    pub(crate) fn leave(&mut self, (stream, number): (u64, u64)) {
        let reader = self.table.get(&stream).and_then(|one| one.reader.as_ref());
        if reader.is_some_and(|reader| reader.number == number) {
            self.drain(stream);
        }
    }

    /// Ends a stream immediately.
    pub(crate) fn end(&mut self, stream: u64) {
        if let Some(entry) = self.table.get_mut(&stream) {
            entry.is_ended = true;
            entry.reader = None;
            self.remove_if_done(stream);
        }
    }

    /// Ends a stream after the queued messages.
    pub(crate) fn finish(&mut self, stream: u64) {
        self.close_reader(stream);
        if let Some(entry) = self.table.get_mut(&stream) {
            entry.is_ended = true;
            self.remove_if_done(stream);
        }
    }

    /// Ends the current reader of a stream after the queued messages.
    pub(crate) fn close_reader(&mut self, stream: u64) {
        if let Some(reader) = self.table.get_mut(&stream).and_then(|one| one.reader.as_mut()) {
            reader.sender = None;
        }
    }

    pub(crate) fn close(&mut self) {
        for reader in self.table.values_mut().filter_map(|one| one.reader.as_mut()) {
            reader.sender = None;
        }
    }

    /// Stores a message for a stream without a reader.
    pub(crate) fn store(&mut self, stream: u64, message: &Bytes) {
        self.append(stream, message, false);
    }

    /// Takes back a delivery whose reader has disconnected.
    pub(crate) fn reclaim(&mut self, stream: u64, delivery: Delivery) -> Undelivered {
        if !self.contains(stream) {
            return Undelivered::Lost;
        }
        if let Some(sender) = self.live(stream).filter(|sender| !sender.is_closed()) {
            return Undelivered::Redeliver(sender, delivery);
        }
        self.store_delivery(stream, delivery);
        Undelivered::Stored
    }

    /// Detaches the current reader and stores the queued messages.
    fn drain(&mut self, stream: u64) {
        let reader = self.table.get_mut(&stream).and_then(|one| one.reader.take());
        let Some(mut reader) = reader else { return };
        reader.receiver.close();
        while let Ok(delivery) = reader.receiver.try_recv() {
            self.store_delivery(stream, delivery);
        }
        if let Some(waker) = reader.waker {
            waker.wake();
        }
        self.remove_if_done(stream);
    }

    fn store_delivery(&mut self, stream: u64, delivery: Delivery) {
        match delivery {
            Delivery::Message(message) => self.store(stream, &message.bytes),
            Delivery::Last(message) => {
                self.store(stream, &message.bytes);
                self.end(stream);
            }
            Delivery::End => self.end(stream),
            Delivery::Forward(_) => {}
        }
    }

    /// Stores a message that is being sent to a reader, and formats it as an event.
    fn record(&mut self, stream: u64, message: &Bytes) -> Bytes {
        let position = self.append(stream, message, true);
        self.events.event(stream, position, message)
    }

    fn append(&mut self, stream: u64, message: &Bytes, is_read: bool) -> u64 {
        let entry = self.table.entry(stream).or_default();
        entry.newest += 1;
        let position = entry.newest;
        for (other, is_lost) in self.events.store(&NewEvent { stream, position, message, is_read })
        {
            self.lost += usize::from(is_lost);
            self.remove_if_done(other);
        }
        position
    }

    /// Removes an ended stream once none of its events are stored.
    fn remove_if_done(&mut self, stream: u64) {
        let is_done = |entry: &Stream| entry.is_ended && entry.reader.is_none();
        if self.table.get(&stream).is_some_and(is_done) && !self.events.has(stream) {
            self.table.remove(&stream);
        }
    }
}

#[cfg(test)]
mod tests;
