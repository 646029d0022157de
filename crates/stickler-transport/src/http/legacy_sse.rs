//! Detects servers that support only HTTP+SSE, the transport of 2024-11-05.
//!
//! Such a server responds to a GET with a stream that starts with an `endpoint` event.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use stickler_protocol::frame::SseFrame;

use super::event_stream::EventStream;
use super::upstream::Upstream;

/// The error message for a server with this transport.
pub const REASON: &str = "the server uses the old HTTP+SSE transport of 2024-11-05, which \
    is not supported; look for its Streamable HTTP endpoint, often `/mcp`";

/// Maximum time to wait for the `endpoint` event.
const FIRST_EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of the first event.
const MAX_FIRST_EVENT_BYTES: usize = 16 << 10;

/// Whether a server that rejected `initialize` with `status` offers HTTP+SSE instead.
pub async fn is_offered(upstream: &Arc<Upstream>, status: StatusCode, headers: &HeaderMap) -> bool {
    let may_be = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    if !may_be.contains(&status) {
        return false;
    }
    let mut headers = headers.clone();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let first = first_event(upstream, headers);
    tokio::time::timeout(FIRST_EVENT_TIMEOUT, first).await.ok().flatten().unwrap_or(false)
}

async fn first_event(upstream: &Arc<Upstream>, headers: HeaderMap) -> Option<bool> {
    let (response, _) = upstream.send(Method::GET, headers, Bytes::new()).await.ok()?;
    if response.status() != StatusCode::OK {
        return None;
    }
    let mut events = EventStream::new(response.into_body(), MAX_FIRST_EVENT_BYTES);
    loop {
        match events.next().await?.ok()? {
            SseFrame::Event(event) if event.data.is_some() => {
                let raw = String::from_utf8_lossy(&event.raw).replace("event: ", "event:");
                return Some(raw.lines().any(|line| line == "event:endpoint"));
            }
            SseFrame::TooLong(_) => return None,
            SseFrame::Event(_) => {}
        }
    }
}
