//! A client that posts messages to an MCP server over HTTP and reports everything the server sends.
//!
//! Used by commands that probe servers. Messages are posted concurrently on the caller's runtime; events are
//! sent to a channel and dropped if it is full or closed.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Uri};
use serde_json::Value;
use stickler::Revision;
use stickler_protocol::envelope::{MessageKind, PartialHeader, RoutingHeader, may_contain};
use stickler_protocol::frame::SseFrame;
use stickler_protocol::headers::VERSION_KEY;
use tokio::sync::mpsc::Sender;

use super::event_stream::EventStream;
use super::headers::has_content_type;
use super::received::{self, Received};
use super::session::{HttpSession, add_body_headers, json_headers};
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
pub struct ProbeClient(Arc<Inner>);

type Schema = dyn Fn(&str) -> Option<Value> + Send + Sync;

struct Inner {
    session: HttpSession,
    revision: Mutex<Option<Revision>>,
    limit: usize,
    schema: Box<Schema>,
    events: Sender<ProbeEvent>,
}

impl ProbeClient {
    /// Creates a client for one server. `schema` returns the `inputSchema` of a tool, which determines
    /// the headers that mirror arguments.
    pub fn new(
        uri: Uri,
        token: Option<&str>,
        limit: usize,
        schema: impl Fn(&str) -> Option<Value> + Send + Sync + 'static,
        events: Sender<ProbeEvent>,
    ) -> io::Result<Self> {
        let token = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
        let invalid = |_| io::Error::new(io::ErrorKind::InvalidInput, "the token is invalid");
        let token = token.transpose().map_err(invalid)?;
        let fixed: HeaderMap = token.map(|token| (AUTHORIZATION, token)).into_iter().collect();
        let inner = Inner {
            session: HttpSession::new(Upstream::new(uri, fixed)?),
            revision: Mutex::default(),
            limit,
            schema: Box::new(schema),
            events,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Posts a message and reports what the server sends.
    pub fn post(&self, message: &[u8]) -> impl Future<Output = ()> + Send + use<> {
        let inner = Arc::clone(&self.0);
        let message = Bytes::copy_from_slice(message);
        async move { inner.exchange(message).await }
    }

    /// Sets the protocol revision that is sent with every following message.
    pub fn set_revision(&self, revision: Option<Revision>) {
        *lock(&self.0.revision) = revision;
    }

    /// Deletes the session, if there is one.
    pub async fn close(&self) {
        let revision = *lock(&self.0.revision);
        self.0.session.close(revision).await;
    }
}

impl Inner {
    async fn exchange(&self, message: Bytes) {
        let kind = RoutingHeader::of(&message).kind;
        let sent = self.session.post(self.headers(&message), message).await;
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(reason) => {
                return self.emit(ProbeEvent::Ended(format!("it cannot be reached: {reason}")));
            }
        };
        if matches!(kind, MessageKind::Notification | MessageKind::Response) {
            // Notifications and responses are not answered with a message.
            return;
        }
        let status = response.status();
        if has_content_type(response.headers(), "text/event-stream") {
            return self.events(EventStream::new(response.into_body(), self.limit)).await;
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
            Received::Broken | Received::NoMemory(_) => {
                self.emit(ProbeEvent::Status(status.as_u16()));
            }
        }
    }

    async fn events(&self, mut events: EventStream) {
        while let Some(Ok(frame)) = events.next().await {
            match frame {
                SseFrame::TooLong(start) => {
                    self.emit(ProbeEvent::TooLong(PartialHeader::of(&start)));
                }
                SseFrame::Event(event) => {
                    if let Some(data) = event.data.filter(|_| event.is_message) {
                        self.emit(ProbeEvent::Message(data));
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
        if !may_contain(message, VERSION_KEY) {
            return self.session.headers(*lock(&self.revision));
        }
        let mut headers = json_headers();
        add_body_headers(&mut headers, message, |tool| (self.schema)(tool));
        headers
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
