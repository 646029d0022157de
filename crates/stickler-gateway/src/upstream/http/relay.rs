//! Relays one client request to a server at a URL and returns the response.
//!
//! Contract: every request of the client gets a response; if the server does not send one, the gateway
//! answers with an error.

mod failure;
pub(crate) mod streaming;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::response::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use stickler::{Code, Era};
use stickler_protocol::envelope::{MessageKind, RequestId, RoutingHeader};
use stickler_protocol::{Header, RequestContext};
use stickler_transport::http::{
    BodyLimits, Lease, Received, SendError, has_content_type, legacy_sse, receive_within,
};

use crate::downstream::http::body::{Body, OnDrop, Source};
use crate::downstream::http::frontend::no_memory;
use crate::downstream::http::inbound_message::InboundMessage;
use crate::downstream::http::reply::{self, HttpResponse};
use crate::driver::Driver;
use crate::driver::message::{Message, Outgoing};
use crate::upstream::http::Proxy;
use crate::upstream::http::admission::{Admission, admit};
use crate::upstream::http::deadline::Deadline;
use crate::upstream::http::hop_by_hop_headers::strip_response;
use failure::from_answers;

/// Phases of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Open,
    /// No new requests are accepted; standalone streams are ended.
    Closing,
    /// All requests are aborted.
    Closed,
}

const TIMED_OUT: &str = "the server did not respond in time";

const SHUTTING_DOWN: &str = "the gateway is shutting down";

const CLIENT_DISCONNECTED: &str = "the client disconnected";

/// The relay of one request.
pub(crate) struct Exchange<'p> {
    pub(crate) proxy: &'p Arc<Proxy>,
    pub(crate) driver: &'p Arc<Driver>,
    pub(crate) context: RequestContext,
    pub(crate) is_modern: bool,
    /// The request is a legacy `initialize`.
    pub(crate) is_initialize: bool,
}

impl<'p> Exchange<'p> {
    pub(crate) fn new(proxy: &'p Arc<Proxy>, driver: &'p Arc<Driver>) -> Self {
        let context = RequestContext::default();
        Self { proxy, driver, context, is_modern: false, is_initialize: false }
    }
}

impl Exchange<'_> {
    pub(crate) async fn post(&self, headers: HeaderMap, inbound: InboundMessage) -> HttpResponse {
        let admission =
            admit(self.driver, (&headers, &inbound.body), &self.context, self.era()).await;
        let (message, ids, mut answers) = match admission {
            Admission::Forward { message, ids, answers } => (message, ids, answers),
            Admission::Answer(answer) => return answer,
        };
        let session = headers.clone();
        let mut guard = self.abandon_on_drop(&message.header);
        self.wait_for_streams(&inbound, &ids).await;
        let deadline = Deadline::of(self, &message.header, ids.clone());
        let sent = tokio::select! {
            sent = self.send(Method::POST, headers, message.bytes) => sent,
            () = deadline.elapsed() => {
                guard.0 = None;
                self.driver.set_context(&session);
                answers.extend(deadline.expire(self.driver));
                return from_answers(answers, Code::Timeout, TIMED_OUT);
            }
        };
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(error) => return self.send_failed(answers, &ids, &error),
        };
        if response.status() == StatusCode::NOT_FOUND && !self.is_modern {
            self.proxy.forget(&session);
        }
        let status = response.status();
        if self.is_initialize
            && legacy_sse::is_offered(&self.proxy.upstream, status, &session).await
        {
            let error = SendError::Other(Code::CannotStart, legacy_sse::REASON.to_owned());
            return self.send_failed(answers, &ids, &error);
        }
        let answer = self.relay_response(response, lease, deadline, answers, session).await;
        guard.0 = None;
        answer
    }

    /// Waits for streams that are being opened. Only legacy sessions have streams.
    async fn wait_for_streams(&self, inbound: &InboundMessage, ids: &[RequestId]) {
        let barrier = &self.driver.stream_barrier;
        if !self.is_modern && !ids.is_empty() {
            barrier.wait_for_first_stream().await;
        }
        barrier.wait_for_opening_streams().await;
        if !self.is_modern && ids.is_empty() && inbound.is_initialized() {
            barrier.expect_first_stream();
        }
    }

    /// Abandons the pending requests of a message if the client disconnects.
    fn abandon_on_drop(&self, header: &Header) -> OnDrop {
        let (driver, header) = (Arc::clone(self.driver), header.clone());
        OnDrop(Some(Box::new(move || driver.abandon(&header))))
    }

    pub(crate) async fn get(&self, headers: HeaderMap) -> HttpResponse {
        self.driver.set_context(&headers);
        let opening = self.driver.stream_barrier.begin_stream();
        let sent = self.send(Method::GET, headers.clone(), Bytes::new()).await;
        drop(opening);
        match sent {
            Ok((response, lease)) => {
                self.relay_response(response, lease, Deadline::none(), Vec::new(), headers).await
            }
            Err(error) => self.send_failed(Vec::new(), &[], &error),
        }
    }

    /// Relays a request without a body.
    pub(crate) async fn send_without_body(
        &self,
        method: Method,
        headers: HeaderMap,
    ) -> HttpResponse {
        match self.send(method, headers.clone(), Bytes::new()).await {
            Ok((response, lease)) => {
                self.relay_response(response, lease, Deadline::none(), Vec::new(), headers).await
            }
            Err(error) => self.send_failed(Vec::new(), &[], &error),
        }
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(Response<Incoming>, Lease), SendError> {
        let sent = self.proxy.upstream.send(method, headers, body).await;
        let shutting_down = || SendError::Other(Code::ServerGone, SHUTTING_DOWN.to_owned());
        sent.map_err(|error| if self.is_shutting_down() { shutting_down() } else { error })
    }

    /// Whether the gateway is shutting down; interrupted responses are attributed to that.
    fn is_shutting_down(&self) -> bool {
        *self.proxy.phase.borrow() == Phase::Closed
    }

    async fn relay_response(
        &self,
        response: Response<Incoming>,
        lease: Lease,
        deadline: Deadline,
        mut answers: Vec<Message>,
        request: HeaderMap,
    ) -> HttpResponse {
        let ids = deadline.ids.clone();
        let ids = ids.as_slice();
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            // The gateway removes `Upgrade`, so no client asked for another protocol.
            return self.switched_protocols(answers, ids);
        }
        let (mut parts, incoming) = response.into_parts();
        strip_response(&mut parts.headers);
        if has_content_type(&parts.headers, "text/event-stream") {
            self.driver.set_context(&request);
            reply::disable_buffering(&mut parts.headers);
            let body = self.stream(incoming, lease, deadline, &answers);
            return Response::from_parts(parts, body);
        }
        let budget = self.proxy.factory.validator.cache().memory();
        // Counts the response until its body is passed on.
        let mut memory = budget.charge(0);
        let limits = BodyLimits { memory: Some(&mut memory), ..BodyLimits::default() };
        let is_json = has_content_type(&parts.headers, "application/json");
        let received = tokio::select! {
            received = receive_within(incoming, self.proxy.factory.message_bytes(), limits) => received,
            () = deadline.elapsed() => {
                self.driver.set_context(&request);
                answers.extend(deadline.expire(self.driver));
                return from_answers(answers, Code::Timeout, TIMED_OUT);
            }
        };
        let bytes = match received.unwrap_or(Received::Broken) {
            Received::NoMemory(_) => return self.response_lost(answers, ids, &no_memory(budget)),
            Received::Whole(bytes) => bytes,
            Received::Broken if self.is_shutting_down() => {
                return self.response_lost(answers, ids, SHUTTING_DOWN);
            }
            Received::Broken => {
                return self.response_lost(answers, ids, "the server's response was interrupted");
            }
            Received::TooLarge(_) => {
                return self.response_lost(answers, ids, "the server's response is too large");
            }
        };
        lease.release();
        let is_message = || RoutingHeader::of(&bytes).kind != MessageKind::Unknown;
        if !is_json || bytes.is_empty() || !parts.status.is_success() && !is_message() {
            return self.response_without_message(answers, ids, parts, bytes);
        }
        let outgoing = self.driver.handle_server_message(&bytes);
        let message = self.take_response(outgoing, ids).await;
        self.respond(message, answers, ids, (parts, bytes))
    }

    /// Builds the response from the server's JSON body. `message` is the response to this request, if any.
    fn respond(
        &self,
        message: Option<Message>,
        answers: Vec<Message>,
        ids: &[RequestId],
        (parts, bytes): (Parts, Bytes),
    ) -> HttpResponse {
        match message {
            Some(message) if answers.is_empty() => {
                Response::from_parts(parts, Body::whole(message.bytes))
            }
            Some(message) => {
                let all: Vec<Message> = answers.into_iter().chain([message]).collect();
                reply::stream(&all, Source::Ended, None)
            }
            None if ids.is_empty() && !answers.is_empty() => {
                from_answers(answers, Code::Protocol, "the server sent no message")
            }
            None if ids.is_empty() => Response::from_parts(parts, Body::whole(bytes)),
            None if !parts.status.is_success() => {
                // Some servers send errors without the id. The status is sufficient.
                self.fail_requests(ids, Code::Protocol, "the server rejected the request");
                Response::from_parts(parts, Body::whole(bytes))
            }
            None => {
                self.response_lost(answers, ids, "the server's response does not match the request")
            }
        }
    }

    /// Returns the response to this request and dispatches the other messages.
    async fn take_response(&self, mut outgoing: Outgoing, ids: &[RequestId]) -> Option<Message> {
        let to_client = &mut outgoing.to_client;
        let is_response = |message: &Message| is_response_to(&message.header, ids);
        let response = to_client.iter().position(is_response).map(|index| to_client.remove(index));
        self.driver.dispatch(outgoing).await;
        response
    }

    fn era(&self) -> Era {
        if self.is_modern { Era::Modern } else { Era::Legacy }
    }
}

pub(crate) fn is_response_to(header: &Header, ids: &[RequestId]) -> bool {
    match header.kind {
        MessageKind::Response => match &header.id {
            Some(id) => ids.contains(id),
            // An error without an id can only belong to this request.
            None => true,
        },
        MessageKind::Batch => true,
        _ => false,
    }
}
