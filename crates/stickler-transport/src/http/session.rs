//! The client side of one MCP session over Streamable HTTP.
//!
//! A session adds to each request the headers that the protocol requires, remembers the session id that the server
//! assigns, opens and resumes the standalone stream, and deletes the session at the end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::Value;
use stickler::Revision;
use stickler_protocol::headers::{self, VERSION};

use super::event_stream::EventStream;
use super::headers::SESSION;
use super::upstream::{Lease, SendError, Upstream};

/// Header with the id of the last event that was received.
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// A session with one server.
pub struct HttpSession {
    upstream: Arc<Upstream>,
    id: Mutex<Option<HeaderValue>>,
}

impl HttpSession {
    /// Creates a session that the server has not opened yet.
    pub fn new(upstream: Arc<Upstream>) -> Self {
        Self { upstream, id: Mutex::default() }
    }

    fn id(&self) -> MutexGuard<'_, Option<HeaderValue>> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the server.
    pub fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// Returns the headers of a legacy message: the session and its revision.
    pub fn headers(&self, revision: Option<Revision>) -> HeaderMap {
        let mut headers = json_headers();
        headers.extend(self.id().clone().map(|id| (SESSION, id)));
        headers.extend(version(revision));
        headers
    }

    /// Posts a message and remembers the session id of the response. The body of the response has not been read yet.
    pub async fn post(
        &self,
        headers: HeaderMap,
        message: Bytes,
    ) -> Result<(Response<Incoming>, Lease), SendError> {
        let sent = self.upstream.send(Method::POST, headers, message).await?;
        if let Some(id) = sent.0.headers().get(SESSION) {
            *self.id() = Some(id.clone());
        }
        Ok(sent)
    }

    /// Opens the standalone stream, or resumes a stream after an event; `None` if the server does not offer it.
    pub async fn listen(
        &self,
        revision: Option<Revision>,
        last_event: Option<HeaderValue>,
        limit: usize,
    ) -> Option<EventStream> {
        let mut headers = self.headers(revision);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.extend(last_event.map(|id| (LAST_EVENT, id)));
        let (response, _) = self.upstream.send(Method::GET, headers, Bytes::new()).await.ok()?;
        let is_stream = response.status() == StatusCode::OK;
        is_stream.then(|| EventStream::new(response.into_body(), limit))
    }

    /// Deletes the session if the server opened one.
    pub async fn close(&self, revision: Option<Revision>) {
        let Some(id) = self.id().take() else { return };
        let headers = [(SESSION, id)].into_iter().chain(version(revision)).collect();
        let _ = self.upstream.send(Method::DELETE, headers, Bytes::new()).await;
    }
}

fn version(revision: Option<Revision>) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_static(revision?.as_str());
    Some((HeaderName::from_static(VERSION), value))
}

/// Returns the headers of every posted message.
pub fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers
}

/// Adds the headers that repeat parts of a modern message. `schema` returns the `inputSchema` of a tool, which
/// determines the arguments that are repeated.
pub fn add_body_headers(
    headers: &mut HeaderMap,
    message: &[u8],
    schema: impl Fn(&str) -> Option<Value>,
) {
    for (name, value) in headers::for_body(message, schema) {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            headers.insert(name, value);
        }
    }
}
