//! A client that posts messages to an MCP server over HTTP and reports everything the server sends.
//!
//! Used by commands that probe servers. Messages are posted concurrently on a background runtime; events are
//! sent to a channel and dropped if it is full or closed.

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
use stickler_protocol::envelope::{MessageKind, PartialHeader, RoutingHeader, may_contain};
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::headers::{self, VERSION, VERSION_KEY};

use super::headers::{SESSION, has_content_type};
use super::received::{self, Received};
use super::upstream::Upstream;

/// An event reported by [`ProbeClient`].
#[derive(Debug)]
pub enum ProbeEvent {
    /// A message, unchanged.
    Message(Vec<u8>),
    /// A message over the size limit; contains the header found in its prefix.
    TooLong(PartialHeader),
    /// An HTTP status without a message.
    Status(u16),
    /// The server cannot be reached, for this reason.
    Ended(String),
}

/// Posts messages to one server.
pub struct ProbeClient {
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
    events: SyncSender<ProbeEvent>,
}

impl ProbeClient {
    /// Creates a client for one server. `schema` returns the `inputSchema` of a tool, which determines
    /// the headers that mirror arguments.
    pub fn new(
        uri: Uri,
        token: Option<&str>,
        limit: usize,
        schema: impl Fn(&str) -> Option<Value> + Send + Sync + 'static,
        events: SyncSender<ProbeEvent>,
    ) -> io::Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let token = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
        let invalid = |_| io::Error::new(io::ErrorKind::InvalidInput, "the token is invalid");
        let inner = Inner {
            upstream: Upstream::new(uri, hyper::HeaderMap::new())?,
            token: token.transpose().map_err(invalid)?,
            session: Mutex::default(),
            revision: Mutex::default(),
            limit,
            schema: Box::new(schema),
            events,
        };
        Ok(Self { runtime, inner: Arc::new(inner) })
    }

    /// Posts a message in the background.
    pub fn post(&self, message: &[u8]) {
        let inner = Arc::clone(&self.inner);
        let message = Bytes::copy_from_slice(message);
        self.runtime.spawn(async move { inner.exchange(message).await });
    }

    /// Sets the protocol revision that is sent with every following message.
    pub fn set_revision(&self, revision: Option<Revision>) {
        *lock(&self.inner.revision) = revision;
    }

    /// Deletes the session, if there is one, and shuts the client down.
    pub fn close(self, grace: Duration) {
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
        let kind = RoutingHeader::of(&message).kind;
        let sent = self.upstream.send(Method::POST, self.headers(&message), message).await;
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(reason) => {
                return self.emit(ProbeEvent::Ended(format!("it cannot be reached: {reason}")));
            }
        };
        if let Some(session) = response.headers().get(SESSION) {
            *lock(&self.session) = Some(session.clone());
        }
        if matches!(kind, MessageKind::Notification | MessageKind::Response) {
            // Notifications and responses are not answered with a message.
            return;
        }
        let status = response.status();
        if has_content_type(response.headers(), "text/event-stream") {
            return self.events(response.into_body()).await;
        }
        match received::receive(response.into_body(), self.limit).await {
            Received::Whole(bytes) => {
                lease.release();
                if memchr::memmem::find(&bytes, b"\"jsonrpc\"").is_some() {
                    self.emit(ProbeEvent::Message(bytes.to_vec()));
                } else if !status.is_success() {
                    self.emit(ProbeEvent::Status(status.as_u16()));
                }
            }
            Received::TooLarge(beginning) => {
                self.emit(ProbeEvent::TooLong(PartialHeader::of(&beginning)));
            }
            Received::Broken => self.emit(ProbeEvent::Status(status.as_u16())),
        }
    }

    async fn events(&self, mut incoming: Incoming) {
        let mut framer = SseFramer::new(self.limit);
        while let Some(Ok(frame)) = incoming.frame().await {
            framer.push(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(frame) = framer.next_frame() {
                match frame {
                    SseFrame::TooLong(start) => {
                        self.emit(ProbeEvent::TooLong(PartialHeader::of(&start)));
                    }
                    SseFrame::Event(event) => {
                        if let Some(data) = event.data.filter(|_| event.is_message) {
                            self.emit(ProbeEvent::Message(Bytes::from(data).to_vec()));
                        }
                    }
                }
            }
        }
    }

    fn emit(&self, event: ProbeEvent) {
        // A full or closed channel means that the caller has stopped reading.
        let _ = self.events.try_send(event);
    }

    fn headers(&self, message: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(both));
        headers.extend(self.token.clone().map(|token| (AUTHORIZATION, token)));
        if may_contain(message, VERSION_KEY) {
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
