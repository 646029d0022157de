//! One message of a stdio client's to an HTTP server, and what comes back.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use std::time::Duration;
use stickler::rules::json_rpc;
use stickler::{Code, Era};
use stickler_protocol::envelope::{
    Address, Bearing, Glimpse, RequestId, answers_in, mentions, requests_in,
};
use stickler_protocol::error_reply;
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::headers::{self, VERSION, VERSION_KEY};
use stickler_transport::http::{Received, SESSION, is_kind, old_transport, receive};
use tracing::warn;

use super::from_stdio::Client;
use super::letter::Letter;

/// How long after its end a stream is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// How often a stream that brings nothing is opened again.
const ATTEMPTS: usize = 5;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How a stream went.
#[derive(Default)]
struct Read {
    is_answered: bool,
    events: usize,
    last_id: Option<HeaderValue>,
}

impl Client {
    /// Whether a message belongs to 2026-07-28.
    pub(super) fn is_modern(&self, message: &[u8]) -> bool {
        mentions(message, VERSION_KEY) || self.conversation.era() == Some(Era::Modern)
    }

    /// Posts a message and passes on what comes back.
    pub(super) async fn exchange(&self, message: Bytes) {
        let headers = self.headers(&message);
        let sent = self.upstream.send(Method::POST, headers, message.clone()).await;
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(unsent) => {
                let (code, reason) = unsent.told();
                warn!(parent: self.conversation.span(), rule = code.as_str(), "[{code}] {reason}");
                return self.fail(&message, code, &reason).await;
            }
        };
        if let Some(session) = response.headers().get(SESSION) {
            *self.session() = Some(session.clone());
        }
        let status = response.status();
        if is_kind(response.headers(), "text/event-stream") {
            let read = self.events(response.into_body(), Some(&message)).await;
            return self.resume(&message, read).await;
        }
        if Letter::of(message.clone()).is_initialize()
            && old_transport::is_spoken(&self.upstream, status, &self.headers(&[])).await
        {
            return self.fail(&message, Code::CannotStart, old_transport::REASON).await;
        }
        let is_json = is_kind(response.headers(), "application/json");
        let received = receive(response.into_body(), self.recipe.message_bytes()).await;
        let (code, reason) = match received {
            Received::Whole(bytes) => {
                lease.give_back();
                if is_json && is_answer(&bytes, &message, status) {
                    let heard = self.conversation.hear_whole(&bytes);
                    self.conversation.pass(heard).await;
                    if status.is_success() && is_same_request(&bytes, &message) {
                        return;
                    }
                }
                (Code::Protocol, told(status, &bytes))
            }
            Received::TooLarge(_) => {
                (Code::ServerGone, "the server's answer is too large".to_owned())
            }
            Received::Broken => (Code::ServerGone, "the server broke off its answer".to_owned()),
        };
        // Says nothing if the request has its answer.
        self.fail(&message, code, &reason).await;
        if !status.is_success() {
            warn!(parent: self.conversation.span(), "{reason}");
        }
    }

    /// The stream for what belongs to no request, for as long as the server keeps one.
    pub(super) async fn listen(&self) {
        let mut last_id = None;
        let mut attempts = 0;
        while attempts < ATTEMPTS {
            let Some(incoming) = self.get(last_id.clone()).await else { return };
            let read = self.events(incoming, None).await;
            attempts = if read.events == 0 { attempts + 1 } else { 0 };
            last_id = read.last_id.or(last_id);
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// A stream that ended before the answer came, and can be asked for the rest.
    async fn resume(&self, message: &Bytes, mut read: Read) {
        let mut attempts = 0;
        while !read.is_answered && read.last_id.is_some() && attempts < ATTEMPTS {
            tokio::time::sleep(AGAIN).await;
            let Some(incoming) = self.get(read.last_id.clone()).await else { break };
            let next = self.events(incoming, Some(message)).await;
            attempts = if next.events == 0 { attempts + 1 } else { 0 };
            read = Read { last_id: next.last_id.clone().or(read.last_id), ..next };
        }
        if !read.is_answered {
            let reason = "the server ended its answer without a response";
            self.fail(message, Code::ServerGone, reason).await;
        }
    }

    async fn get(&self, last_id: Option<HeaderValue>) -> Option<Incoming> {
        let mut headers = self.headers(&[]);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.extend(last_id.map(|id| (LAST_EVENT, id)));
        let (response, _) = self.upstream.send(Method::GET, headers, Bytes::new()).await.ok()?;
        (response.status() == StatusCode::OK).then(|| response.into_body())
    }

    /// Passes the messages of a stream on, to its end or to the answer to a request.
    async fn events(&self, mut incoming: Incoming, request: Option<&Bytes>) -> Read {
        let mut wanted = request.map(|one| Letter::of(one.clone()).requests()).unwrap_or_default();
        let mut framer = SseFramer::new(self.recipe.message_bytes());
        let mut read = Read::default();
        while let Some(Ok(frame)) = incoming.frame().await {
            framer.push(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(frame) = framer.next_frame() {
                let heard = match frame {
                    SseFrame::TooLong(beginning) => self
                        .conversation
                        .overlong(stickler_protocol::Side::Server, Glimpse::of(&beginning)),
                    SseFrame::Event(event) => {
                        let id = event.id.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
                        read.last_id = id.or(read.last_id);
                        read.events += 1;
                        let Some(data) = event.data.filter(|_| event.is_message) else { continue };
                        let data = Bytes::from(data);
                        if !wanted.is_empty() {
                            strike_out(&mut wanted, &data);
                            read.is_answered = wanted.is_empty();
                        }
                        self.conversation.hear_whole(&data)
                    }
                };
                self.conversation.pass(heard).await;
            }
        }
        read
    }

    /// Requests that nobody will answer are answered here.
    async fn fail(&self, message: &[u8], code: Code, reason: &str) {
        for id in requests_in(message) {
            if let Some(error) = self.conversation.give_up_on(&id, code, reason) {
                self.conversation.deliver(vec![error]).await;
                continue;
            }
            // It may be a question of our own.
            let error = error_reply(Some(&id.to_json()), json_rpc::INTERNAL_ERROR, reason);
            let heard = self.conversation.hear_own(&error.into());
            self.conversation.pass(heard).await;
        }
    }

    pub(super) fn headers(&self, message: &[u8]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(both));
        if !message.is_empty() && self.is_modern(message) {
            let cache = self.recipe.validator.cache();
            let schema = |tool: &str| cache.get(&self.recipe.name, tool).map(|one| one.raw.clone());
            for (name, value) in headers::for_body(message, schema) {
                if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                    headers.insert(name, value);
                }
            }
            return headers;
        }
        headers.extend(self.session().clone().map(|session| (SESSION, session)));
        if let Some(revision) = self.conversation.agreed_revision() {
            headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
        }
        headers
    }
}

/// Whether a body is the answer to what was posted. Some servers refuse without looking at the id.
fn is_answer(body: &[u8], message: &[u8], status: StatusCode) -> bool {
    let address = Address::of(body);
    match address.bearing {
        Bearing::Batch => true,
        _ if address.id.is_none() => false,
        _ => status.is_success() || is_same_request(body, message),
    }
}

/// Whether one message and another have the same id.
fn is_same_request(one: &[u8], other: &[u8]) -> bool {
    let id = Address::of(one).request_id(one);
    id.is_some() && id == Address::of(other).request_id(other)
}

/// Takes out what a message answers.
fn strike_out(wanted: &mut Vec<RequestId>, message: &[u8]) {
    let address = Address::of(message);
    let answered = match address.bearing {
        Bearing::Response => address.request_id(message).into_iter().collect(),
        Bearing::Batch => answers_in(message),
        _ => return,
    };
    wanted.retain(|id| !answered.contains(id));
}

/// What an answer by HTTP that is none by JSON-RPC comes to, with what the server says of it.
fn told(status: StatusCode, body: &[u8]) -> String {
    let reason = match status {
        StatusCode::NOT_FOUND => {
            "the server knows no such session, or nothing at this URL (HTTP status 404)".to_owned()
        }
        StatusCode::UNAUTHORIZED => "the server wants authorization (HTTP status 401)".to_owned(),
        status if status.is_success() => {
            format!("the server gave no message (HTTP status {status})")
        }
        status => format!("the server answered with HTTP status {status}"),
    };
    let words = if status.is_success() { None } else { words_of(body) };
    match words {
        Some(words) => format!("{reason}: {words}"),
        None => reason,
    }
}

/// What a server says went wrong, where it says so in a way that is known.
fn words_of(body: &[u8]) -> Option<String> {
    /// More is an essay.
    const LONGEST: usize = 300;
    let said: Value = serde_json::from_slice(body).ok()?;
    let words = said.pointer("/error/message").or_else(|| said.get("message"));
    let words = words.or_else(|| said.get("error"))?.as_str()?;
    Some(words.chars().take(LONGEST).collect())
}
