//! Who waits for what: the way from a message to the request that brought its reader here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use stickler::envelope::{Address, Bearing, RequestId};
use stickler::tape::{Node, TapeBuffer};
use tokio::sync::mpsc;

/// Messages that may wait for one reader; whoever writes more waits too.
const UNREAD: usize = 4;

/// Messages that are kept for a client that listens nowhere, and their bytes.
const BACKLOG: usize = 256;
const BACKLOG_BYTES: usize = 4 << 20;

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
    posts: HashMap<RequestId, Post>,
    posted: u64,
    listener: Option<mpsc::Sender<Bytes>>,
    backlog: VecDeque<Bytes>,
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
    Post(mpsc::Sender<Parcel>, Parcel),
    Listener(mpsc::Sender<Bytes>, Bytes),
    /// It is kept until somebody listens.
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
    ) -> mpsc::Receiver<Parcel> {
        let (sender, receiver) = mpsc::channel(UNREAD);
        let open = Arc::new(AtomicUsize::new(ids.len()));
        self.posted += 1;
        for id in ids {
            let (sender, open, token) = (sender.clone(), Arc::clone(&open), token.cloned());
            self.posts.insert(id, Post { sender, open, number: self.posted, token, streams });
        }
        receiver
    }

    /// Several requests wait at once.
    pub(super) fn is_busy(&self) -> bool {
        self.posts.len() > 2
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posts.is_empty() && self.listener.as_ref().is_none_or(mpsc::Sender::is_closed)
    }

    /// Gives back the memory that is not needed to go on.
    pub(super) fn rest(&mut self) {
        self.posts.shrink_to_fit();
        self.backlog.shrink_to_fit();
    }

    /// Messages that belong to no request come here from now on.
    pub(super) fn listen(&mut self) -> (Vec<Bytes>, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(UNREAD);
        self.listener = Some(sender);
        (self.backlog.drain(..).collect(), receiver)
    }

    /// The stream for what belongs to no request ends.
    pub(super) fn hang_up(&mut self) {
        self.listener = None;
    }

    /// Nobody is there any more.
    pub(super) fn close(&mut self) {
        self.listener = None;
        self.posts.clear();
    }

    /// The request that a message to the server belongs to, when that waits here.
    pub(super) fn owner(&mut self, message: &[u8]) -> Option<mpsc::Sender<Parcel>> {
        let address = Address::of(message);
        let id = match address.bearing {
            Bearing::Request => address.request_id(message)?,
            Bearing::Batch => ids_in(message, |one| one.get("method").is_some()).pop()?,
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
        if let Some(post) = self.posts.remove(id)
            && post.land()
        {
            // A reader that is behind sees the end of the channel instead.
            let _ = post.sender.try_send(Parcel::End);
        }
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
                let ids = answered(&message);
                if ids.is_empty() { self.aside(message) } else { self.answer(&ids, &message) }
            }
            _ => self.aside(message),
        }
    }

    fn answer(&mut self, ids: &[RequestId], message: &Bytes) -> Route {
        let mut route = Route::Nobody;
        for post in ids.iter().filter_map(|id| self.posts.remove(id)) {
            let is_last = post.land();
            let parcel = if is_last { Parcel::Last } else { Parcel::Message };
            route = Route::Post(post.sender, parcel(message.clone()));
        }
        route
    }

    /// A message of the server's own. It goes before the answer to what was asked last, so that it
    /// is not overtaken by it; where nothing was asked, to whoever listens.
    fn aside(&mut self, message: Bytes) -> Route {
        let token = progress_token(&message);
        let streams = self.posts.values().filter(|post| post.streams && !post.sender.is_closed());
        let post = streams.max_by_key(|post| (token.is_some() && post.token == token, post.number));
        if let Some(post) = post {
            return Route::Post(post.sender.clone(), Parcel::Message(message));
        }
        if let Some(listener) = self.listener.as_ref().filter(|one| !one.is_closed()) {
            return Route::Listener(listener.clone(), message);
        }
        let kept: usize = self.backlog.iter().map(Bytes::len).sum();
        if self.backlog.len() >= BACKLOG || kept + message.len() > BACKLOG_BYTES {
            return Route::Nobody;
        }
        self.backlog.push_back(message);
        Route::Kept
    }
}

impl Post {
    /// One of its requests is done; whether that was the last.
    fn land(&self) -> bool {
        self.open.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The ids of the requests or answers in a batch.
pub(super) fn ids_in(batch: &[u8], wanted: impl Fn(Node<'_>) -> bool) -> Vec<RequestId> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(batch, 1 << 10) else { return Vec::new() };
    let elements = tape.root().elements().filter(|one| wanted(*one));
    elements.filter_map(|one| one.get("id").and_then(RequestId::of)).collect()
}

/// The requests in a message.
pub(super) fn requests_in(message: &[u8]) -> Vec<RequestId> {
    let address = Address::of(message);
    match address.bearing {
        Bearing::Request => address.request_id(message).into_iter().collect(),
        Bearing::Batch => ids_in(message, |one| one.get("method").is_some()),
        _ => Vec::new(),
    }
}

/// The requests that a batch answers.
pub(super) fn answered(batch: &[u8]) -> Vec<RequestId> {
    ids_in(batch, |one| one.get("method").is_none())
}

/// The token of a progress notification, or that a request gives.
pub(super) fn progress_token(message: &[u8]) -> Option<RequestId> {
    memchr::memmem::find(message, b"progressToken")?;
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    let params = tape.root().get("params")?;
    let token = params.get("progressToken").or_else(|| params.get("_meta")?.get("progressToken"));
    token.and_then(RequestId::of)
}
