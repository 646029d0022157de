//! Who waits for what: the way from a message to the request that brought its reader here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use memchr::memmem::Finder;
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::envelope::{Address, Bearing, RequestId, answers_in, requests_in};
use tokio::sync::mpsc;

use super::streams::{LISTENER, Streams, TakenUp, Unread};

/// Messages that may wait for one reader; whoever writes more waits too.
pub(super) const UNREAD: usize = 4;

/// What a POST is given.
#[derive(Debug)]
pub(super) enum Parcel {
    /// A message before the answer.
    Message(Bytes),
    /// The answer, or the last of several.
    Last(Bytes),
    /// Its own message, which has waited and is to go on to the server now.
    Forward(Bytes),
    /// Its sender wants no answer any more.
    End,
}

/// The readers of one client.
#[derive(Debug, Default)]
pub(super) struct Mail {
    posts: BTreeMap<RequestId, Post>,
    posted: u64,
    /// The server has gone: nothing will come.
    is_closed: bool,
    /// Where the client can come back for what it has missed.
    streams: Option<Box<Streams>>,
}

/// A POST that waits for its answers.
#[derive(Debug)]
pub(super) struct Waiter {
    /// Its stream, if it becomes one.
    pub(super) number: u64,
    pub(super) receiver: mpsc::Receiver<Parcel>,
}

impl Waiter {
    pub(super) async fn recv(&mut self) -> Option<Parcel> {
        self.receiver.recv().await
    }
}

/// A request that waits.
#[derive(Debug)]
struct Post {
    sender: mpsc::Sender<Parcel>,
    /// Requests of the same POST without an answer.
    open: Arc<AtomicUsize>,
    number: u64,
    token: Option<RequestId>,
    /// Its client reads streams.
    streams: bool,
}

/// Where a message goes.
pub(super) enum Route {
    /// To the reader of a stream.
    Reader(u64, mpsc::Sender<Parcel>, Parcel),
    /// It is kept until somebody comes for it.
    Kept,
    /// Nobody waits for it.
    Nobody,
}

impl Mail {
    /// Waits for answers to these requests.
    pub(super) fn wait(
        &mut self,
        ids: Vec<RequestId>,
        token: Option<&RequestId>,
        streams: bool,
    ) -> Waiter {
        let (sender, receiver) = mpsc::channel(UNREAD);
        let open = Arc::new(AtomicUsize::new(0));
        self.posted += 1;
        // Whoever comes when the server has gone sees at once that nothing will come.
        for id in ids.into_iter().filter(|_| !self.is_closed) {
            // The answer belongs to the request that had the id first.
            if let Entry::Vacant(free) = self.posts.entry(id) {
                open.fetch_add(1, Ordering::AcqRel);
                let (sender, open, token) = (sender.clone(), Arc::clone(&open), token.cloned());
                free.insert(Post { sender, open, number: self.posted, token, streams });
            }
        }
        Waiter { number: self.posted, receiver }
    }

    /// Several requests wait at once.
    pub(super) fn is_busy(&self) -> bool {
        self.posts.len() > 2
    }

    /// Whether somebody is there to read something.
    pub(super) fn is_attended(&self) -> bool {
        self.posts.values().any(Post::is_there)
            || self.streams.as_ref().is_some_and(|streams| streams.is_read())
    }

    /// Gives back the memory that is not needed to go on.
    pub(super) fn rest(&mut self) {
        if self.posts.is_empty() {
            self.posts = BTreeMap::new();
        }
    }

    /// From now on the client can come back for what it has missed.
    pub(super) fn keep_streams(&mut self, tag: String) {
        self.streams = Some(Box::new(Streams::new(tag)));
    }

    pub(super) fn streams(&mut self) -> Option<&mut Streams> {
        self.streams.as_deref_mut()
    }

    /// A POST becomes a stream, with these messages first. One that cannot be taken up is given
    /// back.
    pub(super) fn begin(&mut self, waiter: Waiter, first: &[Bytes]) -> Result<TakenUp, Waiter> {
        let Some(streams) = &mut self.streams else { return Err(waiter) };
        let Waiter { number, receiver } = waiter;
        let sender = self.posts.values().find(|post| post.number == number);
        let sender = sender.map(|post| post.sender.clone());
        Ok(streams.begin(number, sender, receiver, first))
    }

    /// The rest of the stream that an event was on.
    pub(super) fn take_up(&mut self, id: &str) -> Option<TakenUp> {
        let streams = self.streams.as_mut()?;
        let taken_up = streams.take_up(id)?;
        if let Some((stream, _)) = taken_up.live
            && let Some(sender) = streams.live(stream)
        {
            let posts = self.posts.values_mut().filter(|post| post.number == stream);
            posts.for_each(|post| post.sender = sender.clone());
        }
        Some(taken_up)
    }

    /// The stream for what belongs to no request ends.
    pub(super) fn hang_up(&mut self) {
        if let Some(streams) = &mut self.streams {
            streams.hang_up(LISTENER);
        }
    }

    /// Nobody is there any more.
    pub(super) fn close(&mut self) {
        if let Some(streams) = &mut self.streams {
            streams.close();
        }
        self.posts.clear();
        self.is_closed = true;
    }

    /// A reader went away while it was to be given something.
    pub(super) fn take_back(&mut self, stream: u64, parcel: Parcel) -> Unread {
        match &mut self.streams {
            Some(streams) => streams.take_back(stream, parcel),
            None => Unread::Lost,
        }
    }

    /// The request that a message to the server belongs to, when that waits here.
    pub(super) fn owner(&mut self, message: &[u8]) -> Option<mpsc::Sender<Parcel>> {
        let address = Address::of(message);
        let id = match address.bearing {
            Bearing::Request => address.request_id(message)?,
            Bearing::Batch => requests_in(message).pop()?,
            _ => return None,
        };
        // It gets its answer where it goes now.
        let post = self.posts.remove(&id)?;
        self.posts.retain(|_, other| other.number != post.number);
        Some(post.sender)
    }

    /// Whether somebody waits for the answer to that request.
    pub(super) fn waits_for(&self, id: Option<&RequestId>) -> bool {
        id.is_some_and(|id| self.posts.contains_key(id))
    }

    /// A request is cancelled: its POST ends.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        let Some(post) = self.posts.remove(id).filter(Post::land) else { return };
        match &mut self.streams {
            Some(streams) if streams.knows(post.number) => streams.wind_up(post.number),
            // A reader that is behind sees the end of the channel instead.
            _ => drop(post.sender.try_send(Parcel::End)),
        }
    }

    /// The messages of a batch that answers several POSTs: each of them is to get its own.
    pub(super) fn parts(&self, batch: &[u8]) -> Option<Vec<Bytes>> {
        let ids = answers_in(batch);
        let mut posts = ids.iter().filter_map(|id| self.posts.get(id)).map(|post| post.number);
        let first = posts.next()?;
        if posts.all(|other| other == first) {
            return None;
        }
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(batch, 1 << 10).ok()?;
        let copy = |one: Node<'_>| Bytes::copy_from_slice(one.raw().as_bytes());
        Some(tape.root().elements().map(copy).collect())
    }

    /// Where a message for the client goes.
    pub(super) fn route(&mut self, message: Bytes) -> Route {
        let address = Address::of(&message);
        match address.bearing {
            Bearing::Response => match address.request_id(&message) {
                Some(id) => self.answer(&[id], &message),
                None => Route::Nobody,
            },
            Bearing::Batch => {
                let ids = answers_in(&message);
                if ids.is_empty() { self.aside(message) } else { self.answer(&ids, &message) }
            }
            // An answer without anything in it is still the one that somebody waits for.
            Bearing::Unknown => match address.request_id(&message) {
                Some(id) if self.posts.contains_key(&id) => self.answer(&[id], &message),
                _ => self.aside(message),
            },
            Bearing::Request | Bearing::Notification => self.aside(message),
        }
    }

    fn answer(&mut self, ids: &[RequestId], message: &Bytes) -> Route {
        let mut route = Route::Nobody;
        for post in ids.iter().filter_map(|id| self.posts.remove(id)) {
            let is_last = post.land();
            let parcel = if is_last { Parcel::Last } else { Parcel::Message };
            route = Route::Reader(post.number, post.sender, parcel(message.clone()));
        }
        route
    }

    /// A message of the server's own. It goes before the answer to what was asked last, so that it
    /// is not overtaken by it; where nothing was asked, to whoever listens. A stream whose reader
    /// has gone gets what can only be for it, and what nobody else is there for.
    fn aside(&mut self, message: Bytes) -> Route {
        let token = progress_token(&message);
        let is_meant = |post: &Post| token.is_some() && post.token == token;
        let is_known = |post: &Post| self.streams.as_ref().is_some_and(|s| s.knows(post.number));
        let can_read = |post: &&Post| post.streams && (post.is_there() || is_known(post));
        let posts = self.posts.values().filter(can_read);
        let post = posts.max_by_key(|post| (is_meant(post), post.is_there(), post.number));
        if let Some(post) = post.filter(|post| post.is_there()) {
            return Route::Reader(post.number, post.sender.clone(), Parcel::Message(message));
        }
        let absent = post.map(|post| (post.number, is_meant(post)));
        let Some(streams) = &mut self.streams else { return Route::Nobody };
        let listener = streams.live(LISTENER);
        match (absent, listener) {
            (None | Some((_, false)), Some(listener)) => {
                Route::Reader(LISTENER, listener, Parcel::Message(message))
            }
            (absent, _) => {
                streams.keep(absent.map_or(LISTENER, |(number, _)| number), &message);
                Route::Kept
            }
        }
    }
}

impl Post {
    /// Whether somebody waits for it just now.
    fn is_there(&self) -> bool {
        !self.sender.is_closed()
    }

    /// One of its requests is done; whether that was the last.
    fn land(&self) -> bool {
        self.open.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The token of a progress notification, or that a request gives.
pub(super) fn progress_token(message: &[u8]) -> Option<RequestId> {
    static MENTION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("progressToken"));
    MENTION.find(message)?;
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    let params = tape.root().get("params")?;
    let token = params.get("progressToken").or_else(|| params.get("_meta")?.get("progressToken"));
    token.and_then(RequestId::of)
}
