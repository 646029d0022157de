//! Requests that the gateway sends to a server at a URL: not every message belongs to a client's POST.
//!
//! Contract: every request gets a response; if the server does not send one, the gateway creates an error
//! response with the reason.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderName;
use hyper::{HeaderMap, Method};
use stickler::{Era, Revision, rules::json_rpc};
use stickler_protocol::envelope::{MessageKind, RequestId, RoutingHeader};
use stickler_protocol::error_reply;
use stickler_protocol::frame::SseFrame;
use stickler_protocol::headers::{METHOD, NAME, PARAM};
use stickler_transport::http::{
    EventStream, Received, Upstream, add_body_headers, has_content_type, json_headers, receive,
};
use tokio::time::timeout;

use crate::downstream::http::content_negotiation::version;
use crate::driver::message::Message;
use crate::driver::pending_responses::Delivery;
use crate::driver::{Driver, Link};
use crate::tool_views::ToolView;

/// Maximum duration of one exchange.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(60);

/// Link to a server at a URL. Sends gateway requests as POSTs with the client's credentials.
pub(crate) struct UrlLink {
    /// Where gateway requests are sent; `None` if the gateway must not send any.
    upstream: Option<Arc<Upstream>>,
    /// Maximum size of a message.
    limit: usize,
    context: Mutex<Option<HeaderMap>>,
    /// Keeps the cached tools of this view alive as long as the link.
    _view: Arc<ToolView>,
}

impl UrlLink {
    pub(crate) fn new(upstream: Option<Arc<Upstream>>, limit: usize, view: Arc<ToolView>) -> Self {
        Self { upstream, limit, context: Mutex::default(), _view: view }
    }
}

impl Link for UrlLink {
    fn send(&self, driver: &Arc<Driver>, message: Message) {
        let owner = driver.pending_responses().take_owner(&message.header);
        if let Some(owner) = owner {
            // The POST that contained the message is waiting to forward it. If its client has
            // disconnected, the message is abandoned.
            let header = message.header.clone();
            if owner.try_send(Delivery::Forward(message)).is_err() {
                driver.abandon(&header);
            }
            return;
        }
        let Some(upstream) = self.upstream.clone() else { return };
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let driver = Arc::clone(driver);
        let limit = self.limit;
        tokio::spawn(async move {
            let headers = headers_for(context.unwrap_or_default(), &message.bytes);
            for answer in post(&upstream, headers, message, limit).await {
                let outgoing = driver.handle_server_message(&answer);
                driver.dispatch(outgoing).await;
            }
        });
    }

    fn set_context(&self, headers: &HeaderMap) {
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = Some(headers.clone());
    }

    fn clear_context(&self) {
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Adapts the headers of a client's request to another message.
pub(crate) fn headers_for(mut context: HeaderMap, message: &[u8]) -> HeaderMap {
    let stale: Vec<HeaderName> =
        context.keys().filter(|name| name.as_str().starts_with(PARAM)).cloned().collect();
    for name in stale {
        context.remove(name);
    }
    context.remove(METHOD);
    context.remove(NAME);
    let version = version(&context);
    let is_modern = version.and_then(Revision::parse).is_some_and(|one| one.era() == Era::Modern);
    if is_modern {
        add_body_headers(&mut context, message, |_| None);
    }
    context.extend(json_headers());
    context
}

/// Posts a message and returns the messages in the response. A request always gets a response; if the server
/// sends none, it is an error with the reason.
pub(crate) async fn post(
    upstream: &Arc<Upstream>,
    headers: HeaderMap,
    Message { header, bytes, .. }: Message,
    limit: usize,
) -> Vec<Bytes> {
    let id = header.id.as_ref().filter(|_| header.kind == MessageKind::Request);
    let exchange = exchange(upstream, headers, (id, bytes), limit);
    let outcome = timeout(EXCHANGE_TIMEOUT, exchange).await;
    let outcome = outcome.unwrap_or_else(|_| Err("the request timed out".to_owned()));
    let is_answered = |messages: &[Bytes]| {
        messages.iter().any(|one| RoutingHeader::of(one).kind == MessageKind::Response)
    };
    let reason = match outcome {
        Ok(messages) if is_answered(&messages) || id.is_none() => {
            return messages;
        }
        Ok(_) => "the server sent no response".to_owned(),
        Err(reason) => reason,
    };
    let error =
        |id: &RequestId| error_reply(Some(&id.to_json()), json_rpc::INTERNAL_ERROR, &reason).into();
    id.map(error).into_iter().collect()
}

async fn exchange(
    upstream: &Arc<Upstream>,
    headers: HeaderMap,
    (request_id, message): (Option<&RequestId>, Bytes),
    limit: usize,
) -> Result<Vec<Bytes>, String> {
    let (response, lease) = upstream
        .send(Method::POST, headers, message)
        .await
        .map_err(|error| error.code_and_message().1)?;
    let status = response.status();
    if has_content_type(response.headers(), "text/event-stream") {
        return events(EventStream::new(response.into_body(), limit), request_id, limit).await;
    }
    match receive(response.into_body(), limit).await {
        Received::Whole(bytes) => {
            lease.release();
            if !status.is_success() {
                return Err(format!("the server responded with HTTP status {status}"));
            }
            Ok(if bytes.is_empty() { Vec::new() } else { vec![bytes] })
        }
        Received::TooLarge(_) => Err("the response is too large".to_owned()),
        Received::Broken | Received::NoMemory(_) => Err("the response was interrupted".to_owned()),
    }
}

/// Reads the messages of a stream up to the response. The total size is limited.
async fn events(
    mut events: EventStream,
    request_id: Option<&RequestId>,
    limit: usize,
) -> Result<Vec<Bytes>, String> {
    let mut messages = Vec::new();
    while let Some(Ok(frame)) = events.next().await {
        if events.received() > limit.saturating_mul(2) {
            return Err("the response is too large".to_owned());
        }
        let SseFrame::Event(event) = frame else { continue };
        let Some(message) = event.data.map(Bytes::from) else { continue };
        let header = RoutingHeader::of(&message);
        let is_response = request_id.is_some()
            && header.kind == MessageKind::Response
            && header.request_id(&message).as_ref() == request_id;
        messages.push(message);
        if is_response {
            return Ok(messages);
        }
    }
    Ok(messages)
}
