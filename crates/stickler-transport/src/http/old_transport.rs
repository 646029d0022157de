//! Servers that speak HTTP+SSE, the transport of 2024-11-05: they are told by what they say first.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use stickler_protocol::frame::{SseFrame, SseFramer};

use super::upstream::Upstream;

/// What is said of such a server.
pub const REASON: &str = "the server speaks the old HTTP+SSE transport of 2024-11-05, which \
    is not supported; look for its Streamable HTTP endpoint, often `/mcp`";

/// How long such a server has to say where it wants to be spoken to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Its first event is a short one.
const FIRST: usize = 16 << 10;

/// Whether a server that does not take an `initialize` offers the old transport instead.
pub async fn is_spoken(upstream: &Arc<Upstream>, status: StatusCode, headers: &HeaderMap) -> bool {
    let may_be = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    if !may_be.contains(&status) {
        return false;
    }
    let mut headers = headers.clone();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let first = first_event(upstream, headers);
    tokio::time::timeout(PATIENCE, first).await.ok().flatten().unwrap_or(false)
}

async fn first_event(upstream: &Arc<Upstream>, headers: HeaderMap) -> Option<bool> {
    let (response, _) = upstream.send(Method::GET, headers, Bytes::new()).await.ok()?;
    if response.status() != StatusCode::OK {
        return None;
    }
    let mut body = response.into_body();
    let mut framer = SseFramer::new(FIRST);
    loop {
        framer.push(body.frame().await?.ok()?.data_ref()?);
        match framer.next_frame() {
            Some(SseFrame::Event(event)) if event.data.is_some() => {
                let raw = String::from_utf8_lossy(&event.raw).replace("event: ", "event:");
                return Some(raw.lines().any(|line| line == "event:endpoint"));
            }
            Some(SseFrame::TooLong(_)) => return None,
            Some(SseFrame::Event(_)) | None => {}
        }
    }
}
