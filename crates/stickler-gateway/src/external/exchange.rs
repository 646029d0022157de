//! Checks the response to a request that was forwarded.
//!
//! Contract: a JSON body is checked when it is complete; an event stream is checked event by event, each of which
//! leaves as soon as it is complete. A response that cannot be read passes unchanged.

use std::sync::Arc;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;
use serde::de::IgnoredAny;
use stickler::Code;
use stickler_protocol::Side;
use stickler_protocol::envelope::{MessageKind, PartialHeader, RequestId, RoutingHeader};
use stickler_protocol::frame::{SseEvent, SseFrame, SseFramer, sse_event};
use stickler_transport::http::has_content_type;

use super::ExternalAnswer;
use crate::downstream::http::body::Source;
use crate::downstream::http::reply;
use crate::driver::Driver;
use crate::driver::message::{Message, Outgoing};
use crate::tool_views::ToolView;
use crate::upstream::http::relay::is_response_to;
use crate::upstream::http::relay::streaming::encode;

/// A forwarded request that waits for its response.
pub struct ExternalExchange {
    driver: Arc<Driver>,
    /// Keeps the tools of the view until the response has been checked.
    _view: Arc<ToolView>,
    /// The requests without a response.
    ids: Vec<RequestId>,
    /// Answers to rejected parts of a batch, which the response must contain.
    answers: Vec<Message>,
    framer: SseFramer,
    /// Events had ids, so the client can resume the stream.
    is_resumable: bool,
    limit: usize,
}

/// How the response is read.
#[derive(Debug)]
pub enum ResponsePlan {
    /// Not at all.
    Pass,
    /// As one body, for [`ExternalExchange::whole`].
    Whole {
        /// The response becomes an event stream.
        becomes_events: bool,
    },
    /// As a stream, for [`ExternalExchange::events`].
    Events,
    /// The response is replaced.
    Answer(ExternalAnswer),
}

impl ExternalExchange {
    pub(super) fn new(
        driver: Arc<Driver>,
        view: Arc<ToolView>,
        (ids, answers): (Vec<RequestId>, Vec<Message>),
        limit: usize,
    ) -> Self {
        let framer = SseFramer::new(limit);
        Self { driver, _view: view, ids, answers, framer, is_resumable: false, limit }
    }

    /// Decides by the headers of the response how it is read.
    pub fn plan(&self, headers: &HeaderMap, has_body: bool) -> ResponsePlan {
        let is_encoded = headers.get(CONTENT_ENCODING).is_some_and(|value| value != "identity");
        if has_body && !is_encoded {
            if has_content_type(headers, "text/event-stream") {
                return ResponsePlan::Events;
            }
            if has_content_type(headers, "application/json") {
                return ResponsePlan::Whole { becomes_events: !self.answers.is_empty() };
            }
        }
        if self.answers.is_empty() {
            return ResponsePlan::Pass;
        }
        let mut answers = self.answers.clone();
        answers.extend(self.abandon("the server sent no message"));
        ResponsePlan::Answer(reply::stream(&answers, Source::Ended, None).into())
    }

    /// Checks a JSON body. Returns the body that replaces it, if any. A body that is not complete passes unchanged:
    /// if more of the response follows, that may be the rest of the body, or only trailers.
    pub async fn whole(&mut self, body: Bytes, is_last: bool) -> Option<Bytes> {
        let is_message = RoutingHeader::of(&body).kind != MessageKind::Unknown;
        let is_complete = || is_last || serde_json::from_slice::<IgnoredAny>(&body).is_ok();
        let is_readable = is_message && body.len() <= self.limit && is_complete();
        let message = if is_readable { self.response(&body).await } else { None };
        if self.answers.is_empty() {
            return message.map(|one| one.bytes).filter(|bytes| *bytes != body);
        }
        let all = self.answers.drain(..).map(|answer| sse_event(&answer.bytes));
        let mut events: Vec<u8> = all.flatten().collect();
        events.extend(sse_event(&message.map_or(body, |message| message.bytes)));
        Some(events.into())
    }

    /// Checks a JSON body and returns the response in it.
    async fn response(&self, body: &Bytes) -> Option<Message> {
        let mut outgoing = self.driver.handle_server_message(body);
        let to_client = &mut outgoing.to_client;
        let index = to_client.iter().position(|one| is_response_to(&one.header, &self.ids));
        let response = index.map(|index| to_client.remove(index));
        self.driver.dispatch(outgoing).await;
        response
    }

    /// Checks a part of an event stream. Returns the bytes that replace it: all events that are complete.
    pub fn events(&mut self, chunk: &[u8], is_last: bool) -> Vec<u8> {
        let answers = std::mem::take(&mut self.answers);
        let mut out: Vec<u8> = answers.iter().flat_map(|one| sse_event(&one.bytes)).collect();
        self.framer.push(chunk);
        while let Some(frame) = self.framer.next_frame() {
            self.event(frame, &mut out);
        }
        if is_last && !self.is_resumable {
            let lost = self.abandon("the server ended the stream without a response");
            out.extend(lost.iter().flat_map(|error| sse_event(&error.bytes)));
        }
        out
    }

    fn event(&mut self, frame: SseFrame, out: &mut Vec<u8>) {
        let event = match frame {
            SseFrame::Event(event) => event,
            SseFrame::TooLong(prefix) => {
                let partial = PartialHeader::of(&prefix);
                let outgoing = self.driver.handle_oversized(Side::Server, partial);
                return self.collect(outgoing, None, out);
            }
        };
        self.is_resumable |= event.id.is_some();
        match event.data.clone().filter(|_| event.is_message) {
            Some(data) => {
                let data = Bytes::from(data);
                let outgoing = self.driver.handle_server_message(&data);
                self.collect(outgoing, Some(&(event, data)), out);
            }
            None => out.extend(event.raw),
        }
    }

    fn collect(
        &mut self,
        outgoing: Outgoing,
        event: Option<&(SseEvent, Bytes)>,
        out: &mut Vec<u8>,
    ) {
        self.driver.send(outgoing.to_server);
        for message in outgoing.to_client {
            if message.header.kind == MessageKind::Response {
                self.ids.retain(|id| Some(id) != message.header.id.as_ref());
            }
            out.extend(encode(event, &message));
        }
    }

    /// Fails the requests that will not get a response.
    fn abandon(&self, reason: &str) -> Vec<Message> {
        let fail = |id| self.driver.abandon_request(id, Code::ServerGone, reason);
        self.ids.iter().filter_map(fail).collect()
    }
}

impl std::fmt::Debug for ExternalExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalExchange").field("ids", &self.ids).finish_non_exhaustive()
    }
}
