//! Handles HTTP requests for a server that is a command: legacy sessions and modern requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use stickler::rules::json_rpc;
use stickler::{Era, Revision};
use stickler_transport::http::SESSION;
use tokio::time::timeout;

use crate::downstream::http::body::{OnDrop, Source};
use crate::downstream::http::content_negotiation::{accepts_streams, version};
use crate::downstream::http::inbound_message::InboundMessage;
use crate::downstream::http::modern;
use crate::downstream::http::reply::{self, HttpResponse};
use crate::downstream::http::request_context::request_context;
use crate::downstream::http::sessions::{Session, SessionError, Sessions};
use crate::downstream::http::stream_response::stream;
use crate::driver::message::Message;
use crate::driver::pending_responses::{Delivery, ResponseReceiver};
use crate::driver::{Driver, PostOutcome, WaitPolicy};
use crate::multiplexer::Multiplexer;

/// Handles a legacy POST: for the session in its headers, or for a new one.
pub(crate) async fn post(
    sessions: &Arc<Sessions>,
    headers: &HeaderMap,
    inbound: &InboundMessage,
) -> HttpResponse {
    let body = &inbound.body;
    let streams = accepts_streams(headers);
    let is_unknown = version(headers).is_some_and(|version| Revision::parse(version).is_none());
    let unknown = || {
        let reason = "the version in the header `MCP-Protocol-Version` is not supported";
        reply::failure(StatusCode::BAD_REQUEST, body, reason)
    };
    let Some(name) = headers.get(SESSION) else {
        return if is_unknown {
            unknown()
        } else {
            open(sessions, headers, inbound, streams).await
        };
    };
    match name.to_str().ok().and_then(|name| sessions.get(name)) {
        // An unknown version is accepted only if the session has negotiated an unknown version.
        Some(session) if is_unknown && session.driver.agreed_revision().is_some() => unknown(),
        Some(session) => exchange(sessions, &session, (headers, inbound), streams, None).await,
        None => reply::failure(StatusCode::NOT_FOUND, body, "the session does not exist"),
    }
}

async fn open(
    sessions: &Arc<Sessions>,
    headers: &HeaderMap,
    inbound: &InboundMessage,
    streams: bool,
) -> HttpResponse {
    let body = &inbound.body;
    if !inbound.is_initialize() {
        let reason = "the header `Mcp-Session-Id` is missing: a session begins with `initialize`";
        return reply::failure(StatusCode::BAD_REQUEST, body, reason);
    }
    let (name, session) = match sessions.open().await {
        Ok(opened) => opened,
        Err(reason) => return session_error(sessions, &reason, body),
    };
    let guard = close_unless_initialized(sessions, &name, &session);
    let mut answer = exchange(sessions, &session, (headers, inbound), streams, Some(guard)).await;
    if session.process.is_ending() || sessions.get(&name).is_none() {
        return answer;
    }
    if let Ok(name) = HeaderValue::from_str(&name) {
        answer.headers_mut().insert(SESSION, name);
    }
    answer
}

/// Closes a session whose handshake did not complete, because it was rejected or the client disconnected.
fn close_unless_initialized(sessions: &Arc<Sessions>, name: &str, session: &Session) -> OnDrop {
    let (sessions, name) = (Arc::clone(sessions), name.to_owned());
    let driver = Arc::clone(&session.driver);
    OnDrop(Some(Box::new(move || {
        if !driver.is_established() {
            sessions.close(&name);
        }
    })))
}

/// Handles a modern POST. Requests are independent of each other and share a server process.
pub(crate) async fn post_modern(
    multiplexer: &Multiplexer,
    sessions: &Sessions,
    headers: &HeaderMap,
    inbound: &InboundMessage,
) -> HttpResponse {
    let body = &inbound.body;
    let capabilities_hash = match modern::check(headers, body) {
        Ok(capabilities_hash) => capabilities_hash,
        Err(rejection) => return modern::reject(rejection, body, &sessions.log),
    };
    if inbound.is_initialize() {
        // A shared server has no legacy handshake.
        return modern::method_not_found(body, "initialize");
    }
    let is_subscription = inbound.has_method("subscriptions/listen");
    if is_subscription && headers.contains_key(ACCEPT) && !accepts_streams(headers) {
        let reason = "`subscriptions/listen` responds with a stream; accept `text/event-stream`";
        return reply::error(StatusCode::NOT_ACCEPTABLE, body, json_rpc::INVALID_REQUEST, reason);
    }
    let shared = match multiplexer.shared_process().await {
        Ok(shared) => shared,
        Err(reason) => return session_error(sessions, &reason, body),
    };
    shared.wait_for_capacity().await;
    let (driver, guard) = shared.open_request(capabilities_hash);
    let context = request_context(headers, true);
    let streams = is_subscription || accepts_streams(headers);
    let PostOutcome { answers, to_server, responses, .. } =
        driver.post(body, &context, streams, WaitPolicy::Always);
    driver.send(to_server);
    let json_timeout = streams.then_some(sessions.keep_alive);
    let waiting = Waiting { responses, json_timeout, guard: Some(guard) };
    respond(&driver, answers, waiting, (body, Era::Modern)).await
}

async fn exchange(
    sessions: &Sessions,
    session: &Session,
    (headers, inbound): (&HeaderMap, &InboundMessage),
    streams: bool,
    guard: Option<OnDrop>,
) -> HttpResponse {
    session.process.pipe.wait_for_capacity().await;
    let context = request_context(headers, false);
    let PostOutcome { answers, to_server, responses, .. } =
        session.driver.post(&inbound.body, &context, streams, WaitPolicy::Always);
    session.driver.send(to_server);
    let json_timeout = streams.then_some(sessions.keep_alive);
    let waiting = Waiting { responses, json_timeout, guard };
    let answer = respond(&session.driver, answers, waiting, (&inbound.body, Era::Legacy)).await;
    sessions.touch(session);
    answer
}

fn session_error(sessions: &Sessions, reason: &SessionError, body: &[u8]) -> HttpResponse {
    let program = &sessions.command.program;
    let (status, reason) = match reason {
        SessionError::Full => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the limit of server processes or requests is reached; try again later".to_owned(),
        ),
        SessionError::GivenUp(failures) => (
            StatusCode::BAD_GATEWAY,
            format!(
                "[STK-101] the server failed after {failures} consecutive restarts and is not \
                 restarted"
            ),
        ),
        SessionError::Failed(error) => {
            (StatusCode::BAD_GATEWAY, format!("[STK-101] cannot start `{program}`: {error}"))
        }
    };
    reply::failure(status, body, &reason)
}

/// A POST that is waiting for its response.
struct Waiting {
    responses: Option<ResponseReceiver>,
    /// Time until the client gets a stream instead of JSON; `None` if it accepts no stream.
    json_timeout: Option<Duration>,
    /// Runs when the client disconnects.
    guard: Option<OnDrop>,
}

/// Responds with JSON if there is a single message in time, otherwise with a stream.
async fn respond(
    driver: &Arc<Driver>,
    mut answers: Vec<Message>,
    Waiting { responses, json_timeout, guard }: Waiting,
    (body, era): (&Bytes, Era),
) -> HttpResponse {
    let Some(mut responses) = responses else {
        return match answers.pop() {
            None => reply::accepted(),
            Some(answer) if answers.is_empty() => reply::response(answer, era),
            Some(answer) => {
                answers.push(answer);
                reply::stream(&answers, Source::Ended, None)
            }
        };
    };
    if !answers.is_empty() {
        return stream(driver, &answers, responses, guard);
    }
    let first = match json_timeout {
        Some(json_timeout) => match timeout(json_timeout, responses.recv()).await {
            Ok(first) => first,
            Err(_) => return stream(driver, &[], responses, guard),
        },
        None => responses.recv().await,
    };
    match first {
        Some(Delivery::Last(answer)) => reply::response(answer, era),
        Some(Delivery::Message(message)) => stream(driver, &[message], responses, guard),
        Some(Delivery::End) => reply::stream(&[], Source::Ended, None),
        Some(Delivery::Forward(message)) => {
            // Messages are handed back only for servers at a URL; send it to be safe.
            driver.send(vec![message]);
            stream(driver, &[], responses, guard)
        }
        None => reply::failure(StatusCode::BAD_GATEWAY, body, "[STK-105] the server exited"),
    }
}

/// Handles a legacy DELETE: closes the session.
pub(crate) fn close(sessions: &Sessions, headers: &HeaderMap) -> HttpResponse {
    let name = headers.get(SESSION).and_then(|name| name.to_str().ok());
    if name.is_some_and(|name| sessions.close(name)) {
        reply::status(StatusCode::OK)
    } else {
        reply::invalid_request(StatusCode::NOT_FOUND, "the session does not exist")
    }
}
