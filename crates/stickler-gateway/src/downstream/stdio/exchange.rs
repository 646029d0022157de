//! Exchanges between a stdio client and a server at a URL: posts one message and forwards the response.

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;
use std::time::Duration;
use stickler::{Code, Era};
use stickler_protocol::envelope::{
    MessageKind, PartialHeader, RequestId, RoutingHeader, may_contain,
};
use stickler_protocol::frame::SseFrame;
use stickler_protocol::headers::VERSION_KEY;
use stickler_protocol::{Header, Side};
use stickler_transport::http::{
    EventStream, Received, add_body_headers, has_content_type, json_headers, legacy_sse, receive,
};
use stickler_transport::without_line_breaks;
use tracing::warn;

use crate::downstream::stdio::to_url::Client;
use crate::driver::message::{Message, Origin, Outgoing};

/// Delay before a stream is reopened.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Maximum number of consecutive streams without any event.
const MAX_EMPTY_RECONNECTS: usize = 5;

/// The outcome of reading a stream.
#[derive(Default)]
struct Read {
    is_answered: bool,
    events: usize,
    last_id: Option<HeaderValue>,
}

impl Client {
    /// Whether a message uses revision 2026-07-28.
    pub(crate) fn is_modern(&self, message: &[u8]) -> bool {
        may_contain(message, VERSION_KEY) || self.driver.era() == Some(Era::Modern)
    }

    /// Posts a message and forwards the response.
    pub(crate) async fn exchange(&self, message: Message) {
        let headers = self.headers(&message.bytes);
        let sent = self.session.post(headers, message.bytes.clone()).await;
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(error) => {
                let (code, reason) = error.code_and_message();
                warn!(parent: self.driver.span(), rule = code.as_str(), "[{code}] {reason}");
                return self.fail(&message, code, &reason).await;
            }
        };
        let status = response.status();
        if has_content_type(response.headers(), "text/event-stream") {
            let events = EventStream::new(response.into_body(), self.factory.message_bytes());
            let read = self.events(events, Some(&message)).await;
            return self.resume(&message, read).await;
        }
        if message.header.has_method("initialize")
            && legacy_sse::is_offered(self.session.upstream(), status, &self.headers(&[])).await
        {
            return self.fail(&message, Code::CannotStart, legacy_sse::REASON).await;
        }
        let is_json = has_content_type(response.headers(), "application/json");
        let received = receive(response.into_body(), self.factory.message_bytes()).await;
        let (code, reason) = match received {
            Received::Whole(bytes) => {
                lease.release();
                if is_json && is_response(&bytes, &message.header, status) {
                    let bytes = without_line_breaks(bytes.clone());
                    let outgoing = self.driver.handle_server_message(&bytes);
                    let mut unanswered = message.header.requests().cloned().collect();
                    self.remove_answered(&mut unanswered, message.origin, &outgoing);
                    self.dispatch(outgoing).await;
                    let is_request = message.header.requests().next().is_some();
                    if status.is_success() && is_request && unanswered.is_empty() {
                        return;
                    }
                }
                (Code::Protocol, describe_response(status, &bytes))
            }
            Received::TooLarge(_) => {
                (Code::ServerGone, "the server's response is too large".to_owned())
            }
            Received::Broken | Received::NoMemory(_) => {
                (Code::ServerGone, "the server's response was interrupted".to_owned())
            }
        };
        // Has no effect if the request was answered.
        self.fail(&message, code, &reason).await;
        if !status.is_success() {
            warn!(parent: self.driver.span(), "{reason}");
        }
    }

    /// Removes the requests that a server message answers. The client sees a response to its request, and may then
    /// use the id for another one; it never sees the response to a gateway request, whose id is used once.
    fn remove_answered(&self, unanswered: &mut Vec<RequestId>, origin: Origin, sent: &Outgoing) {
        let answered = || sent.to_client.iter().flat_map(|message| message.header.answers());
        unanswered.retain(|id| match origin {
            Origin::Request(_) => self.driver.awaits(id),
            _ => !answered().any(|one| one == id),
        });
    }

    /// Reads the standalone stream, for messages that belong to no request, and reopens it when it ends.
    pub(crate) async fn listen(&self) {
        let mut last_id = None;
        let mut attempts = 0;
        while attempts < MAX_EMPTY_RECONNECTS {
            let Some(incoming) = self.get(last_id.clone()).await else { return };
            let read = self.events(incoming, None).await;
            attempts = if read.events == 0 { attempts + 1 } else { 0 };
            last_id = read.last_id.or(last_id);
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
    }

    /// Resumes a stream that ended before the response.
    async fn resume(&self, message: &Message, mut read: Read) {
        let mut attempts = 0;
        while !read.is_answered && read.last_id.is_some() && attempts < MAX_EMPTY_RECONNECTS {
            tokio::time::sleep(RECONNECT_DELAY).await;
            let Some(incoming) = self.get(read.last_id.clone()).await else { break };
            let next = self.events(incoming, Some(message)).await;
            attempts = if next.events == 0 { attempts + 1 } else { 0 };
            read = Read { last_id: next.last_id.clone().or(read.last_id), ..next };
        }
        if !read.is_answered {
            let reason = "the server ended the stream without a response";
            self.fail(message, Code::ServerGone, reason).await;
        }
    }

    async fn get(&self, last_id: Option<HeaderValue>) -> Option<EventStream> {
        let limit = self.factory.message_bytes();
        self.session.listen(self.driver.agreed_revision(), last_id, limit).await
    }

    /// Forwards the messages of a stream until it ends.
    async fn events(&self, mut events: EventStream, request: Option<&Message>) -> Read {
        let unanswered = request.into_iter().flat_map(|request| request.header.requests());
        let mut unanswered: Vec<RequestId> = unanswered.cloned().collect();
        let mut read = Read::default();
        while let Some(Ok(frame)) = events.next().await {
            let outgoing = match frame {
                SseFrame::TooLong(prefix) => {
                    self.driver.handle_oversized(Side::Server, PartialHeader::of(&prefix))
                }
                SseFrame::Event(event) => {
                    let id = event.id.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
                    read.last_id = id.or(read.last_id);
                    read.events += 1;
                    let Some(data) = event.data.filter(|_| event.is_message) else { continue };
                    let data = without_line_breaks(Bytes::from(data));
                    let outgoing = self.driver.handle_server_message(&data);
                    if let Some(request) = request.filter(|_| !unanswered.is_empty()) {
                        self.remove_answered(&mut unanswered, request.origin, &outgoing);
                        read.is_answered = unanswered.is_empty();
                    }
                    outgoing
                }
            };
            self.dispatch(outgoing).await;
        }
        read
    }

    /// Sends messages to both sides and writes those to the client.
    async fn dispatch(&self, outgoing: Outgoing) {
        self.driver.dispatch(outgoing).await;
        self.driver.flush();
    }

    /// Answers the requests in a message with errors.
    async fn fail(&self, message: &Message, code: Code, reason: &str) {
        for id in message.header.requests() {
            if matches!(message.origin, Origin::Request(_)) {
                let outgoing = self.driver.gateway_request_failed(id, reason);
                self.dispatch(outgoing).await;
            } else if let Some(error) = self.driver.abandon_request(id, code, reason) {
                self.driver.deliver(vec![error]).await;
                self.driver.flush();
            }
        }
    }

    pub(crate) fn headers(&self, message: &[u8]) -> HeaderMap {
        if message.is_empty() || !self.is_modern(message) {
            return self.session.headers(self.driver.agreed_revision());
        }
        let cache = self.factory.validator.cache();
        let schema = |tool: &str| cache.get(&self.factory.name, tool).map(|one| one.raw.clone());
        let mut headers = json_headers();
        add_body_headers(&mut headers, message, schema);
        headers
    }
}

/// Whether a body is the response to the posted message. Some servers send errors with another id.
fn is_response(body: &[u8], request: &Header, status: StatusCode) -> bool {
    let header = RoutingHeader::of(body);
    match header.kind {
        MessageKind::Batch => true,
        _ if header.id.is_none() => false,
        _ => status.is_success() || is_same_request(body, request),
    }
}

/// Whether a body has the id of a request.
fn is_same_request(body: &[u8], request: &Header) -> bool {
    let id = RoutingHeader::of(body).request_id(body);
    id.is_some() && id == request.id
}

/// Describes an HTTP response without a JSON-RPC response, including the server's error message.
fn describe_response(status: StatusCode, body: &[u8]) -> String {
    let reason = match status {
        StatusCode::NOT_FOUND => {
            "the session does not exist, or there is no MCP server at this URL (HTTP status 404)"
                .to_owned()
        }
        StatusCode::UNAUTHORIZED => {
            "the server requires authorization (HTTP status 401)".to_owned()
        }
        status if status.is_success() => {
            format!("the server sent no message (HTTP status {status})")
        }
        status => format!("the server responded with HTTP status {status}"),
    };
    let message = if status.is_success() { None } else { error_message(body) };
    match message {
        Some(message) => format!("{reason}: {message}"),
        None => reason,
    }
}

/// Extracts the error message from a JSON body.
fn error_message(body: &[u8]) -> Option<String> {
    /// Longer messages are truncated.
    const MAX_REASON_CHARS: usize = 300;
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = body.pointer("/error/message").or_else(|| body.get("message"));
    let message = message.or_else(|| body.get("error"))?.as_str()?;
    Some(message.chars().take(MAX_REASON_CHARS).collect())
}
