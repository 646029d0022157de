//! Correlates messages for a client with the HTTP requests and streams that wait for them.
//!
//! A response is delivered to the POST that carried its request. Server requests and notifications are
//! delivered on the stream of a pending request or on the standalone GET stream. With resumption enabled,
//! messages for a disconnected reader are stored for replay; without it they are undeliverable.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use stickler::MemoryBudget;
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::Header;
use stickler_protocol::envelope::{MessageKind, RequestId};
use tokio::sync::mpsc;

use crate::driver::message::Message;
use crate::event_store::streams::{ResumedStream, STANDALONE_STREAM, Streams, Undelivered};

/// Maximum number of messages queued for one reader; senders then wait (backpressure).
pub(crate) const READER_QUEUE_CAPACITY: usize = 4;

/// An item delivered to a waiting POST.
#[derive(Debug)]
pub(crate) enum Delivery {
    /// A message that precedes the last response.
    Message(Message),
    /// The response, or the last one of a batch.
    Last(Message),
    /// The POST's own message, which was held back and must now be forwarded to the server.
    Forward(Message),
    /// The request was cancelled: no response follows.
    End,
}

/// The pending responses and streams of one client.
#[derive(Debug, Default)]
pub(crate) struct PendingResponses {
    pending: BTreeMap<RequestId, PendingResponse>,
    last_stream: u64,
    /// The server is gone: no further message arrives.
    is_closed: bool,
    /// Resumable streams, once resumption is enabled.
    streams: Option<Box<Streams>>,
}

/// The receiving end of a POST that waits for its responses.
#[derive(Debug)]
pub(crate) struct ResponseReceiver {
    /// The stream id of the POST, used if its response becomes an event stream.
    pub(crate) stream: u64,
    pub(crate) receiver: mpsc::Receiver<Delivery>,
}

impl ResponseReceiver {
    pub(crate) async fn recv(&mut self) -> Option<Delivery> {
        self.receiver.recv().await
    }
}

/// A request that waits for its response.
#[derive(Debug)]
struct PendingResponse {
    sender: mpsc::Sender<Delivery>,
    /// Number of requests of the same POST that have no response yet.
    unanswered: Arc<AtomicUsize>,
    stream: u64,
    token: Option<RequestId>,
    /// Whether the client accepts event streams.
    accepts_streams: bool,
}

/// Where a message for the client is delivered.
pub(crate) enum Route {
    /// To the reader of a stream.
    Reader(u64, mpsc::Sender<Delivery>, Delivery),
    /// Stored until the client resumes the stream.
    Stored,
    /// No reader exists and none can resume.
    Undeliverable,
}

impl PendingResponses {
    /// Registers requests and returns the receiver of their responses.
    pub(crate) fn register(
        &mut self,
        ids: Vec<RequestId>,
        token: Option<&RequestId>,
        accepts_streams: bool,
    ) -> ResponseReceiver {
        let (sender, receiver) = mpsc::channel(READER_QUEUE_CAPACITY);
        let unanswered = Arc::new(AtomicUsize::new(0));
        self.last_stream += 1;
        // Once the server is gone, the receiver reports the end immediately.
        for id in ids.into_iter().filter(|_| !self.is_closed) {
            // With a duplicate id, the response belongs to the first request.
            if let Entry::Vacant(free) = self.pending.entry(id) {
                unanswered.fetch_add(1, Ordering::AcqRel);
                let (sender, unanswered, token) =
                    (sender.clone(), Arc::clone(&unanswered), token.cloned());
                free.insert(PendingResponse {
                    sender,
                    unanswered,
                    stream: self.last_stream,
                    token,
                    accepts_streams,
                });
            }
        }
        ResponseReceiver { stream: self.last_stream, receiver }
    }

    /// Returns whether several requests are pending at once.
    pub(crate) fn is_busy(&self) -> bool {
        self.pending.len() > 2
    }

    /// Returns whether a client currently reads a response or a stream.
    pub(crate) fn has_readers(&self) -> bool {
        self.pending.values().any(PendingResponse::is_connected)
            || self.streams.as_ref().is_some_and(|streams| streams.is_read())
    }

    /// Releases memory that an idle session does not need.
    pub(crate) fn shrink(&mut self) {
        if self.pending.is_empty() {
            self.pending = BTreeMap::new();
        }
    }

    /// Makes streams resumable; `tag` is the prefix of their event ids. Stored events count towards the budget.
    pub(crate) fn enable_resumption(&mut self, tag: String, memory: &MemoryBudget) {
        self.streams = Some(Box::new(Streams::new(tag).with_memory(memory)));
    }

    pub(crate) fn streams(&mut self) -> Option<&mut Streams> {
        self.streams.as_deref_mut()
    }

    /// Turns a POST into an event stream that starts with the `first` messages. Returns the receiver
    /// unchanged if streams are not resumable.
    pub(crate) fn open_stream(
        &mut self,
        receiver: ResponseReceiver,
        first: &[Message],
    ) -> Result<ResumedStream, ResponseReceiver> {
        let Some(streams) = &mut self.streams else { return Err(receiver) };
        let ResponseReceiver { stream, receiver } = receiver;
        let sender = self.pending.values().find(|response| response.stream == stream);
        let sender = sender.map(|response| response.sender.clone());
        Ok(streams.open(stream, sender, receiver, first))
    }

    /// Resumes the stream that the event `id` belongs to.
    pub(crate) fn resume(&mut self, id: &str) -> Option<ResumedStream> {
        let streams = self.streams.as_mut()?;
        let resumed = streams.resume(id)?;
        if let Some((stream, _)) = resumed.live
            && let Some(sender) = streams.live(stream)
        {
            let pending = self.pending.values_mut().filter(|response| response.stream == stream);
            pending.for_each(|response| response.sender = sender.clone());
        }
        Some(resumed)
    }

    /// Closes the standalone GET stream, which carries messages that belong to no request.
    pub(crate) fn close_standalone_stream(&mut self) {
        if let Some(streams) = &mut self.streams {
            streams.close_reader(STANDALONE_STREAM);
        }
    }

    /// Ends all streams and pending responses; later requests are not registered.
    pub(crate) fn close(&mut self) {
        if let Some(streams) = &mut self.streams {
            streams.close();
        }
        self.pending.clear();
        self.is_closed = true;
    }

    /// Takes back a delivery after its reader disconnected.
    pub(crate) fn reclaim(&mut self, stream: u64, delivery: Delivery) -> Undelivered {
        match &mut self.streams {
            Some(streams) => streams.reclaim(stream, delivery),
            None => Undelivered::Lost,
        }
    }

    /// Removes the POST that a message to the server belongs to and returns its sender.
    pub(crate) fn take_owner(&mut self, header: &Header) -> Option<mpsc::Sender<Delivery>> {
        // The response arrives on the exchange that forwards the message.
        let response = self.pending.remove(header.requests().last()?)?;
        self.pending.retain(|_, other| other.stream != response.stream);
        Some(response.sender)
    }

    /// Returns whether the request waits for its response.
    pub(crate) fn is_pending(&self, id: Option<&RequestId>) -> bool {
        id.is_some_and(|id| self.pending.contains_key(id))
    }

    /// Ends the POST of a cancelled request.
    pub(crate) fn cancel(&mut self, id: &RequestId) {
        let Some(response) = self.pending.remove(id).filter(PendingResponse::complete_one) else {
            return;
        };
        match &mut self.streams {
            Some(streams) if streams.contains(response.stream) => streams.finish(response.stream),
            // A reader with a full queue detects the closed channel instead.
            _ => drop(response.sender.try_send(Delivery::End)),
        }
    }

    /// Splits a batch of responses to several POSTs into its messages, so that each POST gets its own.
    pub(crate) fn split_batch(&self, batch: &Message) -> Option<Vec<Message>> {
        let pending = batch.header.answers().filter_map(|id| self.pending.get(id));
        let mut pending = pending.map(|response| response.stream);
        let first = pending.next()?;
        if pending.all(|other| other == first) {
            return None;
        }
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(&batch.bytes, 1 << 10).ok()?;
        let part = |(one, header): (Node<'_>, &Header)| {
            let bytes = Bytes::copy_from_slice(one.raw().as_bytes());
            Message::new(batch.origin, Arc::new(header.clone()), bytes)
        };
        Some(tape.root().elements().zip(&batch.header.batch).map(part).collect())
    }

    /// Selects the reader of a message for the client.
    pub(crate) fn route(&mut self, message: Message) -> Route {
        let mut answered = Vec::new();
        for id in message.header.answers() {
            answered.extend(self.pending.remove(id));
        }
        let is_response = message.header.kind == MessageKind::Response
            || message.header.answers().next().is_some();
        if !is_response {
            return self.route_unsolicited(message);
        }
        let mut reader = None;
        for response in answered {
            let is_last = response.complete_one();
            reader = Some((response.stream, response.sender, is_last));
        }
        match reader {
            Some((stream, sender, true)) => Route::Reader(stream, sender, Delivery::Last(message)),
            Some((stream, sender, false)) => {
                Route::Reader(stream, sender, Delivery::Message(message))
            }
            None => Route::Undeliverable,
        }
    }

    /// Routes a server request or notification. It is sent on the stream of the request with the same
    /// progress token, else of the latest request, so that it precedes that response; with no request
    /// pending, on the standalone stream. A disconnected stream stores only messages with its token, or
    /// messages that no connected stream can carry.
    fn route_unsolicited(&mut self, message: Message) -> Route {
        let token = message.header.progress_token.clone();
        let matches_token = |response: &PendingResponse| token.is_some() && response.token == token;
        let is_resumable = |response: &PendingResponse| {
            self.streams.as_ref().is_some_and(|s| s.contains(response.stream))
        };
        let can_read = |response: &&PendingResponse| {
            response.accepts_streams && (response.is_connected() || is_resumable(response))
        };
        let pending = self.pending.values().filter(can_read);
        let response = pending.max_by_key(|response| {
            (matches_token(response), response.is_connected(), response.stream)
        });
        if let Some(response) = response.filter(|response| response.is_connected()) {
            return Route::Reader(
                response.stream,
                response.sender.clone(),
                Delivery::Message(message),
            );
        }
        let disconnected = response.map(|response| (response.stream, matches_token(response)));
        let Some(streams) = &mut self.streams else { return Route::Undeliverable };
        let listener = streams.live(STANDALONE_STREAM);
        match (disconnected, listener) {
            (None | Some((_, false)), Some(listener)) => {
                Route::Reader(STANDALONE_STREAM, listener, Delivery::Message(message))
            }
            (disconnected, _) => {
                let stream = disconnected.map_or(STANDALONE_STREAM, |(stream, _)| stream);
                streams.store(stream, &message.bytes);
                Route::Stored
            }
        }
    }
}

impl PendingResponse {
    /// Returns whether the client is still connected.
    fn is_connected(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Completes one request of the POST and returns whether it was the last.
    fn complete_one(&self) -> bool {
        self.unanswered.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
