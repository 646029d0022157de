//! Messages that go to an HTTP server without a client's request to carry them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use stickler::{Era, Revision, rules::json_rpc};
use stickler_protocol::envelope::{Address, Bearing, RequestId};
use stickler_protocol::error_reply;
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::headers::{self, METHOD, NAME, PARAM};
use stickler_transport::http::{Received, Upstream, is_kind, receive};
use tokio::time::timeout;

use super::conversation::{Conversation, Link};
use super::mail::Parcel;
use super::manners::version;
use super::to_url::WeakProxy;
use super::views::View;

/// How long an exchange of our own may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// By POSTs of our own, with the authorization of the client that they are for.
pub(super) struct ToUrl {
    proxy: WeakProxy,
    context: Mutex<Option<HeaderMap>>,
    /// What is learnt for it is kept until it is over.
    _view: Arc<View>,
}

impl ToUrl {
    pub(super) fn new(proxy: WeakProxy, view: Arc<View>) -> Self {
        Self { proxy, context: Mutex::default(), _view: view }
    }
}

impl Link for ToUrl {
    fn send(&self, conversation: &Arc<Conversation>, message: Bytes) {
        let owner = conversation.mail().owner(&message);
        if let Some(owner) = owner {
            // The request that brought it waits for nothing else. If its client has gone, it does
            // not go on.
            if let Err(unsent) = owner.try_send(Parcel::Forward(message.clone())) {
                drop(unsent);
                conversation.abandon(&message);
            }
            return;
        }
        let Some(proxy) = self.proxy.upgrade() else { return };
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let conversation = Arc::clone(conversation);
        let limit = proxy.recipe.message_bytes();
        let upstream = Arc::clone(&proxy.upstream);
        tokio::spawn(async move {
            let headers = headers_for(context.unwrap_or_default(), &message);
            for answer in post(&upstream, headers, message, limit).await {
                let heard = conversation.hear_whole(&answer);
                conversation.pass(heard).await;
            }
        });
    }

    fn set_context(&self, headers: &HeaderMap) {
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = Some(headers.clone());
    }

    fn rest(&self) {
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The headers of another request made fit for a message.
pub(super) fn headers_for(mut context: HeaderMap, message: &[u8]) -> HeaderMap {
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
        for (name, value) in headers::for_body(message, |_| None) {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                context.insert(name, value);
            }
        }
    }
    context.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let both = "application/json, text/event-stream";
    context.insert(ACCEPT, HeaderValue::from_static(both));
    context
}

/// Posts a message; gives the messages that come back. A request is always answered, if need be by
/// an error that says why nobody else did.
pub(super) async fn post(
    upstream: &Arc<Upstream>,
    headers: HeaderMap,
    message: Bytes,
    limit: usize,
) -> Vec<Bytes> {
    let address = Address::of(&message);
    let id = address.id.clone().and_then(|span| message.get(span)).map(<[u8]>::to_vec);
    let outcome = timeout(PATIENCE, exchange(upstream, headers, message, limit)).await;
    let outcome = outcome.unwrap_or_else(|_| Err("there was no answer in time".to_owned()));
    let is_answered = |messages: &[Bytes]| {
        messages.iter().any(|one| Address::of(one).bearing == Bearing::Response)
    };
    let reason = match outcome {
        Ok(messages) if is_answered(&messages) || address.bearing != Bearing::Request => {
            return messages;
        }
        Ok(_) => "there was no answer".to_owned(),
        Err(reason) => reason,
    };
    let id = id.as_deref().and_then(|id| std::str::from_utf8(id).ok());
    match address.bearing {
        Bearing::Request => vec![error_reply(id, json_rpc::INTERNAL_ERROR, &reason).into()],
        _ => Vec::new(),
    }
}

async fn exchange(
    upstream: &Arc<Upstream>,
    headers: HeaderMap,
    message: Bytes,
    limit: usize,
) -> Result<Vec<Bytes>, String> {
    let asked = Some(Address::of(&message)).filter(|one| one.bearing == Bearing::Request);
    let wanted = asked.and_then(|address| address.request_id(&message));
    let (response, lease) =
        upstream.send(Method::POST, headers, message).await.map_err(|unsent| unsent.told().1)?;
    let status = response.status();
    if is_kind(response.headers(), "text/event-stream") {
        return events(response.into_body(), wanted.as_ref(), limit).await;
    }
    match receive(response.into_body(), limit).await {
        Received::Whole(bytes) => {
            lease.give_back();
            if !status.is_success() {
                return Err(format!("the server answered with HTTP status {status}"));
            }
            Ok(if bytes.is_empty() { Vec::new() } else { vec![bytes] })
        }
        Received::TooLarge(_) => Err("the answer is too large".to_owned()),
        Received::Broken => Err("the answer broke off".to_owned()),
    }
}

/// The messages of a stream, up to the answer. A server that goes on and on is not listened to.
async fn events(
    mut incoming: Incoming,
    wanted: Option<&RequestId>,
    limit: usize,
) -> Result<Vec<Bytes>, String> {
    let mut framer = SseFramer::new(limit);
    let mut messages = Vec::new();
    let mut received = 0_usize;
    while let Some(Ok(frame)) = incoming.frame().await {
        let data = frame.data_ref().map_or(&[][..], |data| data);
        received = received.saturating_add(data.len());
        framer.push(data);
        while let Some(frame) = framer.next_frame() {
            let SseFrame::Event(event) = frame else { continue };
            let Some(message) = event.data.map(Bytes::from) else { continue };
            let address = Address::of(&message);
            let is_answer = wanted.is_some()
                && address.bearing == Bearing::Response
                && address.request_id(&message).as_ref() == wanted;
            messages.push(message);
            if is_answer {
                return Ok(messages);
            }
        }
        if received > limit.saturating_mul(2) {
            return Err("the answer is too large".to_owned());
        }
    }
    Ok(messages)
}
