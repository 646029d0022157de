//! What 2026-07-28 asks of HTTP: headers that repeat the body, statuses that follow the error.

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler::headers::{self, HeaderRefusal};
use stickler::rules::json_rpc;
use stickler::tape::{Node, TapeBuffer};

use super::body::Body;
use super::reply::{self, Answer};
use crate::gateway::log::{Level, Log};
use crate::gateway::recipe::Recipe;

/// What is wrong with a request whose headers are not those of its body.
pub(super) fn check(
    recipe: &Recipe,
    server: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<HeaderRefusal> {
    let header = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        // Whoever reads another of them reads something else: then it is not the body's.
        let is_one = values.all(|other| other == first);
        if is_one { first.to_str().ok() } else { Some("") }
    };
    let schema =
        |tool: &str| recipe.validator.cache().get(server, tool).map(|tool| tool.raw.clone());
    headers::check(body, header, schema).err()
}

/// The answer to such a request.
pub(super) fn refuse(refusal: HeaderRefusal, log: &Log) -> Answer {
    log.say(Level::Warn, &format!("message from the client refused: {}", refusal.message));
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
