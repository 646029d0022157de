//! HTTP in front of a command.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler::rules::json_rpc;
use stickler_transport::http::SESSION;
use tokio::time::timeout;

use super::body::{OnDrop, Source};
use super::conversation::{Conversation, Posted, Waits};
use super::letter::Letter;
use super::mail::{Parcel, Waiter};
use super::manners::{accepts_streams, version};
use super::modern;
use super::reading::stream;
use super::reply::{self, Answer};
use super::sessions::{NoSession, Session, Sessions};
use super::switchboard::Switchboard;

/// A legacy POST: to the session that it names, or to a new one.
pub(super) async fn post(sessions: &Arc<Sessions>, headers: &HeaderMap, letter: &Letter) -> Answer {
    let body = &letter.body;
    let streams = accepts_streams(headers);
    let is_unknown = version(headers).is_some_and(|version| Revision::parse(version).is_none());
    let unknown = || {
        let reason = "the header `MCP-Protocol-Version` names no version that is known here";
        reply::failure(StatusCode::BAD_REQUEST, body, reason)
    };
    let Some(name) = headers.get(SESSION) else {
        return if is_unknown { unknown() } else { open(sessions, letter, streams).await };
    };
    match name.to_str().ok().and_then(|name| sessions.get(name)) {
        // Unless it is what client and server have agreed on.
        Some(session) if is_unknown && session.conversation.agreed_revision().is_some() => {
            unknown()
        }
        Some(session) => converse(sessions, &session, letter, streams, None).await,
        None => reply::failure(StatusCode::NOT_FOUND, body, "there is no such session"),
    }
}

async fn open(sessions: &Arc<Sessions>, letter: &Letter, streams: bool) -> Answer {
    let body = &letter.body;
    if !letter.is_initialize() {
        let reason = "the header `Mcp-Session-Id` is missing: a session begins with `initialize`";
        return reply::failure(StatusCode::BAD_REQUEST, body, reason);
    }
    let (name, session) = match sessions.open() {
        Ok(opened) => opened,
        Err(reason) => return no_session(sessions, &reason, body),
    };
    let guard = close_unless_open(sessions, &name, &session);
    let mut answer = converse(sessions, &session, letter, streams, Some(guard)).await;
    if session.process.is_ending() || sessions.get(&name).is_none() {
        return answer;
    }
    if let Ok(name) = HeaderValue::from_str(&name) {
        answer.headers_mut().insert(SESSION, name);
    }
    answer
}

/// A session that came to nothing, because it was refused or its client went away, keeps no server.
fn close_unless_open(sessions: &Arc<Sessions>, name: &str, session: &Session) -> OnDrop {
    let (sessions, name) = (Arc::clone(sessions), name.to_owned());
    let conversation = Arc::clone(&session.conversation);
    OnDrop(Some(Box::new(move || {
        if !conversation.is_open() {
            sessions.close(&name);
        }
    })))
}

/// A modern POST: every request speaks for itself, and all share a server.
pub(super) async fn post_modern(
    switchboard: &Switchboard,
    sessions: &Sessions,
    headers: &HeaderMap,
    letter: &Letter,
) -> Answer {
    let body = &letter.body;
    let can_do = match modern::check(headers, body) {
        Ok(can_do) => can_do,
        Err(refusal) => return modern::refuse(refusal, &sessions.log),
    };
    if letter.is_initialize() {
        // A server that many share is not to be shaken hands with.
        return modern::no_method(body, "initialize");
    }
    let listens = letter.has_method("subscriptions/listen");
    if listens && headers.contains_key(ACCEPT) && !accepts_streams(headers) {
        let reason = "`subscriptions/listen` is answered with a stream; accept `text/event-stream`";
        return reply::error(StatusCode::NOT_ACCEPTABLE, body, json_rpc::INVALID_REQUEST, reason);
    }
    let line = match switchboard.line().await {
        Ok(line) => line,
        Err(reason) => return no_session(sessions, &reason, body),
    };
    line.room().await;
    let (conversation, guard) = line.converse(can_do, modern::mirrors(headers));
    let streams = listens || accepts_streams(headers);
    let Posted { answers, onward, mail, .. } = conversation.post(letter, streams, Waits::Always);
    conversation.send(onward);
    let patience = streams.then_some(sessions.keep_alive);
    let waiting = Waiting { mail, patience, guard: Some(guard) };
    modern::with_status(respond(&conversation, answers, waiting, body).await)
}

async fn converse(
    sessions: &Sessions,
    session: &Session,
    letter: &Letter,
    streams: bool,
    guard: Option<OnDrop>,
) -> Answer {
    session.process.pipe.room().await;
    let Posted { answers, onward, mail, .. } =
        session.conversation.post(letter, streams, Waits::Always);
    session.conversation.send(onward);
    let patience = streams.then_some(sessions.keep_alive);
    let waiting = Waiting { mail, patience, guard };
    respond(&session.conversation, answers, waiting, &letter.body).await
}

fn no_session(sessions: &Sessions, reason: &NoSession, body: &[u8]) -> Answer {
    let program = &sessions.command.program;
    let (status, reason) = match reason {
        NoSession::Full => (
            StatusCode::SERVICE_UNAVAILABLE,
            "there are as many servers, or requests, as are allowed; try again later".to_owned(),
        ),
        NoSession::GivenUp(failures) => (
            StatusCode::BAD_GATEWAY,
            format!(
                "[STK-101] the server failed again after {failures} new starts in a row, and is \
                 not started again"
            ),
        ),
        NoSession::Failed(error) => {
            (StatusCode::BAD_GATEWAY, format!("[STK-101] cannot start `{program}`: {error}"))
        }
    };
    reply::failure(status, body, &reason)
}

/// A POST whose answer is still to come.
struct Waiting {
    mail: Option<Waiter>,
    /// How long its client waits for JSON before it gets a stream; for ever if it takes none.
    patience: Option<Duration>,
    /// What happens when its client goes away.
    guard: Option<OnDrop>,
}

/// One answer is a JSON body; a stream is for when more comes, or when it takes long.
async fn respond(
    conversation: &Arc<Conversation>,
    mut answers: Vec<Bytes>,
    Waiting { mail, patience, guard }: Waiting,
    body: &Bytes,
) -> Answer {
    let Some(mut mail) = mail else {
        return match answers.pop() {
            None => reply::accepted(),
            Some(answer) if answers.is_empty() => reply::verdict(answer),
            Some(answer) => {
                answers.push(answer);
                reply::stream(&answers, Source::Ended, None)
            }
        };
    };
    if !answers.is_empty() {
        return stream(conversation, &answers, mail, guard);
    }
    let first = match patience {
        Some(patience) => match timeout(patience, mail.recv()).await {
            Ok(first) => first,
            Err(_) => return stream(conversation, &[], mail, guard),
        },
        None => mail.recv().await,
    };
    match first {
        Some(Parcel::Last(answer)) => reply::json(StatusCode::OK, answer),
        Some(Parcel::Message(message)) => stream(conversation, &[message], mail, guard),
        Some(Parcel::End) => reply::stream(&[], Source::Ended, None),
        Some(Parcel::Forward(message)) => {
            // Only what waits for an HTTP server is handed back.
            conversation.send(vec![message]);
            stream(conversation, &[], mail, guard)
        }
        None => reply::failure(StatusCode::BAD_GATEWAY, body, "[STK-105] the server went away"),
    }
}

/// A legacy DELETE: the client is done.
pub(super) fn close(sessions: &Sessions, headers: &HeaderMap) -> Answer {
    let name = headers.get(SESSION).and_then(|name| name.to_str().ok());
    if name.is_some_and(|name| sessions.close(name)) {
        reply::status(StatusCode::OK)
    } else {
        reply::refusal(StatusCode::NOT_FOUND, "there is no such session")
    }
}
