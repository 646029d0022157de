//! A client of our own to a server that is reached by HTTP: every message is posted, and whatever
//! comes back is handed to whoever listens.

use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Uri};
use serde_json::Value;
use stickler::Revision;
use stickler_protocol::envelope::{Address, Bearing, Glimpse, mentions};
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::headers::{self, VERSION, VERSION_KEY};

use super::headers::{SESSION, is_kind};
use super::received::{self, Received};
use super::upstream::Upstream;

/// What comes from a server.
#[derive(Debug)]
pub enum Heard {
    /// A message, as it came.
    Message(Vec<u8>),
    /// A message over the limit; what its beginning says.
    TooLong(Glimpse),
    /// An HTTP status, and no message with it.
    Status(u16),
    /// Nothing more will come, for this reason.
    Ended(String),
}

/// Posts messages.
pub struct Asker {
    runtime: tokio::runtime::Runtime,
    inner: Arc<Inner>,
}

type Schema = dyn Fn(&str) -> Option<Value> + Send + Sync;

struct Inner {
    upstream: Arc<Upstream>,
    token: Option<HeaderValue>,
    session: Mutex<Option<HeaderValue>>,
    revision: Mutex<Option<Revision>>,
    limit: usize,
    schema: Box<Schema>,
    heard: SyncSender<Heard>,
}

impl Asker {
    /// For one server; `schema` gives the `inputSchema` of a tool, for the headers that repeat
    /// arguments.
    pub fn new(
        uri: Uri,
        token: Option<&str>,
        limit: usize,
        schema: impl Fn(&str) -> Option<Value> + Send + Sync + 'static,
        heard: SyncSender<Heard>,
    ) -> io::Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let token = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
        let odd = |_| io::Error::new(io::ErrorKind::InvalidInput, "the token is odd");
        let inner = Inner {
            upstream: Upstream::new(uri, hyper::HeaderMap::new())?,
            token: token.transpose().map_err(odd)?,
            session: Mutex::default(),
            revision: Mutex::default(),
            limit,
            schema: Box::new(schema),
            heard,
        };
        Ok(Self { runtime, inner: Arc::new(inner) })
    }

    /// Posts a message, without waiting for what comes of it.
    pub fn post(&self, message: &[u8]) {
        let inner = Arc::clone(&self.inner);
        let message = Bytes::copy_from_slice(message);
        self.runtime.spawn(async move { inner.exchange(message).await });
    }

    /// From now on messages say that they are of this revision.
    pub fn agree(&self, revision: Option<Revision>) {
        *lock(&self.inner.revision) = revision;
    }

    /// Ends the session, where there is one.
    pub fn say_goodbye(self, grace: Duration) {
        let session = lock(&self.inner.session).take();
        if let Some(session) = session {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, session);
            headers.extend(self.inner.token.clone().map(|token| (AUTHORIZATION, token)));
            if let Some(revision) = *lock(&self.inner.revision) {
                headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
            }
            let sent = self.inner.upstream.send(Method::DELETE, headers, Bytes::new());
            let _ = self.runtime.block_on(async { tokio::time::timeout(grace, sent).await });
        }
        self.runtime.shutdown_background();
    }
}

impl Inner {
    async fn exchange(&self, message: Bytes) {
        let bearing = Address::of(&message).bearing;
        let sent = self.upstream.send(Method::POST, self.headers(&message), message).await;
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(reason) => {
                return self.say(Heard::Ended(format!("it cannot be reached: {reason}")));
            }
        };
        if let Some(session) = response.headers().get(SESSION) {
            *lock(&self.session) = Some(session.clone());
        }
        if matches!(bearing, Bearing::Notification | Bearing::Response) {
            // Nothing is to come of it, and nobody waits.
            return;
        }
        let status = response.status();
        if is_kind(response.headers(), "text/event-stream") {
            return self.events(response.into_body()).await;
        }
        match received::receive(response.into_body(), self.limit).await {
            Received::Whole(bytes) => {
                lease.give_back();
                if memchr::memmem::find(&bytes, b"\"jsonrpc\"").is_some() {
                    self.say(Heard::Message(bytes.to_vec()));
                } else if !status.is_success() {
                    self.say(Heard::Status(status.as_u16()));
                }
            }
            Received::TooLarge(beginning) => self.say(Heard::TooLong(Glimpse::of(&beginning))),
            Received::Broken => self.say(Heard::Status(status.as_u16())),
        }
    }

    async fn events(&self, mut incoming: Incoming) {
        let mut framer = SseFramer::new(self.limit);
        while let Some(Ok(frame)) = incoming.frame().await {
            framer.push(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(frame) = framer.next_frame() {
                match frame {
                    SseFrame::TooLong(start) => self.say(Heard::TooLong(Glimpse::of(&start))),
                    SseFrame::Event(event) => {
                        if let Some(data) = event.data.filter(|_| event.is_message) {
                            self.say(Heard::Message(Bytes::from(data).to_vec()));
                        }
                    }
                }
            }
        }
    }

    fn say(&self, heard: Heard) {
        // Nobody listens any more: then nobody misses it.
        let _ = self.heard.try_send(heard);
    }

    fn headers(&self, message: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(both));
        headers.extend(self.token.clone().map(|token| (AUTHORIZATION, token)));
        if mentions(message, VERSION_KEY) {
            for (name, value) in headers::for_body(message, |tool| (self.schema)(tool)) {
                if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                    headers.insert(name, value);
                }
            }
            return headers;
        }
        headers.extend(lock(&self.session).clone().map(|session| (SESSION, session)));
        if let Some(revision) = *lock(&self.revision) {
            headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
        }
        headers
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
