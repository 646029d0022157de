//! Answers over HTTP. Statuses live here and in what calls this, nowhere else.

use std::collections::VecDeque;

use bytes::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use stickler::rules::json_rpc;
use stickler_protocol::envelope::{Address, Bearing};
use stickler_protocol::error_reply;
use stickler_protocol::frame::sse_event;

use super::body::{Body, OnDrop, Source};

pub(super) type Answer = Response<Body>;

/// The header that names the last event that a client has seen.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// One message.
pub(super) fn json(status: StatusCode, message: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Body::whole(message));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// The answer that a gatekeeper gave: one that names no request is no answer to a request.
pub(super) fn verdict(message: Bytes) -> Answer {
    let address = Address::of(&message);
    let names_one = address.id.is_some() || address.bearing == Bearing::Batch;
    let status = if names_one { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    json(status, message)
}

/// A stream of events.
pub(super) fn stream(ready: &[Bytes], source: Source, guard: Option<OnDrop>) -> Answer {
    let ready: VecDeque<Bytes> = ready.iter().map(|one| sse_event(one).into()).collect();
    events(Body::stream(ready, source, guard))
}

/// A stream of events, its headers.
pub(super) fn events(body: Body) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    unbuffered(headers);
    answer
}

/// Asks whoever stands in between not to hold a stream back.
pub(super) fn unbuffered(headers: &mut HeaderMap) {
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
}

pub(super) fn status(status: StatusCode) -> Answer {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    answer
}

/// Nothing to say to a notification or a response.
pub(super) fn accepted() -> Answer {
    status(StatusCode::ACCEPTED)
}

/// Gives an answer the headers of its request to be its own. hyper takes those of an answer for the next
/// request on the connection, and these have the room that it needs.
pub(super) fn in_the_place_of(mut headers: HeaderMap, mut answer: Answer) -> Answer {
    headers.clear();
    headers.extend(std::mem::take(answer.headers_mut()));
    *answer.headers_mut() = headers;
    answer
}

/// Why a request was rejected, kept beside the answer for the log.
#[derive(Debug, Clone)]
pub(super) struct Rejection(pub(super) String);

/// An answer that rejects a request.
pub(super) fn rejection(status: StatusCode, message: impl Into<Bytes>, reason: &str) -> Answer {
    let mut answer = json(status, message);
    answer.extensions_mut().insert(Rejection(reason.to_owned()));
    answer
}

/// A refusal that names no request.
pub(super) fn refusal(code: StatusCode, reason: &str) -> Answer {
    rejection(code, error_reply(None, json_rpc::INVALID_REQUEST, reason), reason)
}

/// A failure of ours or of the server's, told to the request that came.
pub(super) fn failure(code: StatusCode, request: &[u8], reason: &str) -> Answer {
    error(code, request, json_rpc::INTERNAL_ERROR, reason)
}

/// An error for the request that came.
pub(super) fn error(status: StatusCode, request: &[u8], code: i32, reason: &str) -> Answer {
    let id = Address::of(request).id.and_then(|span| request.get(span));
    let id = id.and_then(|id| std::str::from_utf8(id).ok());
    rejection(status, error_reply(id, code, reason), reason)
}

/// The methods of HTTP that there are.
pub(super) fn not_allowed(allowed: &'static str, reason: &str) -> Answer {
    let mut answer = refusal(StatusCode::METHOD_NOT_ALLOWED, reason);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
