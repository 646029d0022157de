//! Builders for HTTP responses.

use std::collections::VecDeque;

use bytes::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use stickler::Era;
use stickler::rules::json_rpc;
use stickler_protocol::envelope::{MessageKind, RoutingHeader};
use stickler_protocol::frame::sse_event;
use stickler_protocol::headers::{self, HeaderRejection};
use stickler_protocol::{Header, error_reply};

use crate::downstream::http::body::{Body, OnDrop, Source};
use crate::driver::message::Message;

pub(crate) type HttpResponse = Response<Body>;

/// The header with the id of the last event that a client received.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A response with one message as JSON.
pub(crate) fn json(status: StatusCode, message: impl Into<Bytes>) -> HttpResponse {
    let mut answer = Response::new(Body::whole(message));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A JSON-RPC response as the response to a POST.
pub(crate) fn response(message: Message, era: Era) -> HttpResponse {
    json(status_of(&message.header, era), message.bytes)
}

/// Returns the HTTP status of a JSON-RPC response. In the modern era it depends on the error. An error without
/// an id is not a response to a request, so its status is 400.
fn status_of(header: &Header, era: Era) -> StatusCode {
    match header.code {
        Some(code) if era == Era::Modern => from_number(headers::status_of_error(code)),
        _ if header.id.is_some() || header.kind == MessageKind::Batch => StatusCode::OK,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// The response to a request with mismatched headers.
pub(crate) fn header_rejection(rejection: HeaderRejection) -> HttpResponse {
    json(from_number(rejection.status()), rejection.answer.bytes)
}

fn from_number(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST)
}

/// A response with an SSE stream.
pub(crate) fn stream(ready: &[Message], source: Source, guard: Option<OnDrop>) -> HttpResponse {
    let ready: VecDeque<Bytes> = ready.iter().map(|one| sse_event(&one.bytes).into()).collect();
    events(Body::stream(ready, source, guard))
}

/// Adds the headers of an SSE stream to a body.
pub(crate) fn events(body: Body) -> HttpResponse {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    disable_buffering(headers);
    answer
}

/// Asks reverse proxies not to buffer a stream.
pub(crate) fn disable_buffering(headers: &mut HeaderMap) {
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
}

pub(crate) fn status(status: StatusCode) -> HttpResponse {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    answer
}

/// The response to a notification or a JSON-RPC response.
pub(crate) fn accepted() -> HttpResponse {
    status(StatusCode::ACCEPTED)
}

/// Why a request was rejected, attached to the response for the log.
#[derive(Debug, Clone)]
pub(crate) struct Rejection(pub(crate) String);

/// A response that rejects a request.
pub(crate) fn rejection(
    status: StatusCode,
    message: impl Into<Bytes>,
    reason: &str,
) -> HttpResponse {
    let mut answer = json(status, message);
    answer.extensions_mut().insert(Rejection(reason.to_owned()));
    answer
}

/// A rejection without a request id.
pub(crate) fn invalid_request(code: StatusCode, reason: &str) -> HttpResponse {
    rejection(code, error_reply(None, json_rpc::INVALID_REQUEST, reason), reason)
}

/// The response to a POST without a body. On a pipe an empty line is ignored; an HTTP client requires a response.
pub(crate) fn empty_body() -> HttpResponse {
    let reason = "Parse error: the body is empty; it must be a JSON-RPC message";
    let error = error_reply(None, json_rpc::PARSE_ERROR, reason);
    rejection(StatusCode::BAD_REQUEST, error, reason)
}

/// An internal error of the gateway or the server, with the id of the request.
pub(crate) fn failure(code: StatusCode, request: &[u8], reason: &str) -> HttpResponse {
    error(code, request, json_rpc::INTERNAL_ERROR, reason)
}

/// An error with the id of the request.
pub(crate) fn error(status: StatusCode, request: &[u8], code: i32, reason: &str) -> HttpResponse {
    let id = RoutingHeader::of(request).id.and_then(|span| request.get(span));
    let id = id.and_then(|id| std::str::from_utf8(id).ok());
    rejection(status, error_reply(id, code, reason), reason)
}

/// A rejection with the allowed HTTP methods.
pub(crate) fn not_allowed(allowed: &'static str, reason: &str) -> HttpResponse {
    let mut answer = invalid_request(StatusCode::METHOD_NOT_ALLOWED, reason);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
