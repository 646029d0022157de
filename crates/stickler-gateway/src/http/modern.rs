//! HTTP rules of revision 2026-07-28: headers that mirror the body, and statuses that depend on the error.

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler::rules::json_rpc;
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::headers::{self, HeaderRejection, PARAM, ParamHeaders};

use super::body::Body;
use super::reply::{self, HttpResponse};
use crate::log::Log;
use tracing::warn;

/// Compares the headers of a request with its body; returns a hash of the client capabilities.
pub(super) fn check(headers: &HeaderMap, body: &[u8]) -> Result<u64, HeaderRejection> {
    let header = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        // Repeated headers with different values are ambiguous and never match the body.
        let is_unambiguous = values.all(|other| other == first);
        Some(if is_unambiguous { text(first) } else { "" })
    };
    headers::check(body, header)
}

/// A value that is not text becomes empty: it is present but never matches the body.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// Returns the headers of a request that mirror tool arguments.
pub(super) fn param_headers(headers: &HeaderMap) -> ParamHeaders {
    let found = headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAM));
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    ParamHeaders::new(found.map(|(name, value)| (name.as_str().to_owned(), text(value))))
}

/// Returns the response to a request with mismatched headers.
pub(super) fn reject(rejection: HeaderRejection, log: &Log) -> HttpResponse {
    warn!(parent: log.span(), "message from the client rejected: {}", rejection.message);
    reply::json(status(rejection.code, true), rejection.answer)
}

/// Returns the response to a request with a method that the revision has removed.
pub(super) fn method_not_found(request: &[u8], method: &str) -> HttpResponse {
    let reason = format!("Method not found: `{method}` is not a method of {}", Revision::LATEST);
    reply::error(StatusCode::NOT_FOUND, request, json_rpc::METHOD_NOT_FOUND, &reason)
}

/// Returns a gateway response with the HTTP status of its error.
pub(super) fn gateway_response(response: Bytes) -> HttpResponse {
    with_status(reply::gateway_response(response))
}

/// Sets the HTTP status of a response according to its JSON-RPC error.
pub(super) fn with_status(mut response: HttpResponse) -> HttpResponse {
    if let Body::Whole(Some(message)) = response.body()
        && memchr::memmem::find(message, b"\"error\"").is_some()
        && matches!(response.status(), StatusCode::OK | StatusCode::BAD_REQUEST)
        && let Some(code) = error_code(message)
    {
        *response.status_mut() = status(code, false);
    }
    response
}

fn status(code: i32, is_header_error: bool) -> StatusCode {
    match code {
        json_rpc::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        json_rpc::HEADER_MISMATCH
        | json_rpc::MISSING_CLIENT_CAPABILITY
        | json_rpc::UNSUPPORTED_VERSION
        | json_rpc::PARSE_ERROR
        | json_rpc::INVALID_REQUEST => StatusCode::BAD_REQUEST,
        json_rpc::INVALID_PARAMS if is_header_error => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn error_code(message: &[u8]) -> Option<i32> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    tape.root().get("error")?.get("code").map(Node::raw)?.parse().ok()
}
