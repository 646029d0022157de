//! What 2026-07-28 asks of HTTP: headers that repeat the body, statuses that follow the error.

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler::rules::json_rpc;
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::headers::{self, HeaderRefusal, Mirrors, PARAM};

use super::body::Body;
use super::reply::{self, Answer};
use crate::log::Log;
use tracing::warn;

/// Compares the headers of a request with its body; gives a number for what its client can do.
pub(super) fn check(headers: &HeaderMap, body: &[u8]) -> Result<u64, HeaderRefusal> {
    let header = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        // Whoever reads another of them reads something else: then it is not the body's.
        let is_one = values.all(|other| other == first);
        Some(if is_one { text(first) } else { "" })
    };
    headers::check(body, header)
}

/// What is no text is there, and is not what any body says.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// The headers of a request that repeat arguments.
pub(super) fn mirrors(headers: &HeaderMap) -> Mirrors {
    let repeats = headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAM));
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    Mirrors::new(repeats.map(|(name, value)| (name.as_str().to_owned(), text(value))))
}

/// The answer to such a request.
pub(super) fn refuse(refusal: HeaderRefusal, log: &Log) -> Answer {
    warn!(parent: log.span(), "message from the client rejected: {}", refusal.message);
    reply::json(status(refusal.code, true), refusal.answer)
}

/// The answer to a request of a method that has been given up.
pub(super) fn no_method(request: &[u8], method: &str) -> Answer {
    let reason = format!("Method not found: `{method}` is not a method of {}", Revision::LATEST);
    reply::error(StatusCode::NOT_FOUND, request, json_rpc::METHOD_NOT_FOUND, &reason)
}

/// The answer to a request, with the status that its error asks for.
pub(super) fn verdict(answer: Bytes) -> Answer {
    with_status(reply::verdict(answer))
}

/// An answer with the status that its error asks for.
pub(super) fn with_status(mut answer: Answer) -> Answer {
    if let Body::Whole(Some(message)) = answer.body()
        && memchr::memmem::find(message, b"\"error\"").is_some()
        && matches!(answer.status(), StatusCode::OK | StatusCode::BAD_REQUEST)
        && let Some(code) = error_code(message)
    {
        *answer.status_mut() = status(code, false);
    }
    answer
}

fn status(code: i32, of_headers: bool) -> StatusCode {
    match code {
        json_rpc::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        json_rpc::HEADER_MISMATCH
        | json_rpc::MISSING_CLIENT_CAPABILITY
        | json_rpc::UNSUPPORTED_VERSION
        | json_rpc::PARSE_ERROR
        | json_rpc::INVALID_REQUEST => StatusCode::BAD_REQUEST,
        json_rpc::INVALID_PARAMS if of_headers => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn error_code(message: &[u8]) -> Option<i32> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(message, 1 << 10).ok()?;
    tape.root().get("error")?.get("code").map(Node::raw)?.parse().ok()
}
