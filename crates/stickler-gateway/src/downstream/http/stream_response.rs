//! SSE responses of legacy sessions: a POST that is answered with a stream, and GET requests for streams.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler_transport::http::SESSION;
use tracing::warn;

use crate::downstream::http::body::{Body, OnDrop, Source};
use crate::downstream::http::reply::{self, HttpResponse, LAST_EVENT};
use crate::downstream::http::sessions::Sessions;
use crate::driver::Driver;
use crate::driver::message::Message;
use crate::driver::pending_responses::ResponseReceiver;
use crate::event_store::streams::{ResumedStream, Streams};

/// The registration of a client that reads a stream; dropping it detaches the client.
pub(crate) struct StreamReader {
    pub(crate) driver: Arc<Driver>,
    pub(crate) reader: (u64, u64),
}

impl StreamReader {
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.driver.pending_responses().streams() {
            Some(streams) => streams.poll(self.reader, context),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        if let Some(streams) = self.driver.pending_responses().streams() {
            streams.leave(self.reader);
        }
    }
}

/// Handles a legacy GET: opens the standalone stream, or resumes an interrupted one.
pub(crate) fn listen(sessions: &Sessions, headers: &HeaderMap) -> HttpResponse {
    let name = headers.get(SESSION).and_then(|name| name.to_str().ok());
    let Some(session) = name.and_then(|name| sessions.get(name)) else {
        return reply::invalid_request(StatusCode::NOT_FOUND, "the session does not exist");
    };
    let driver = &session.driver;
    let resumed = match headers.get(LAST_EVENT).map(HeaderValue::to_str) {
        None => driver.pending_responses().streams().map(Streams::listen),
        Some(id) => id.ok().and_then(|id| driver.pending_responses().resume(id)),
    };
    let Some(resumed) = resumed else {
        let reason = "`Last-Event-ID` is not the id of a stored event of this session; omit it to \
                      open a new stream";
        return reply::invalid_request(StatusCode::BAD_REQUEST, reason);
    };
    if resumed.has_gap {
        warn!(
            parent: driver.span(),
            "a client resumed a stream too late; some missed events are no longer available"
        );
    }
    read(driver, resumed, None)
}

/// Answers a POST with a stream. In a session the client can resume it.
pub(crate) fn stream(
    driver: &Arc<Driver>,
    first: &[Message],
    receiver: ResponseReceiver,
    guard: Option<OnDrop>,
) -> HttpResponse {
    let number = receiver.stream;
    // Clients of older revisions treat every event as a message.
    let supports_priming_event = driver.agreed_revision() >= Some(Revision::V2025_11_25);
    let mut pending = driver.pending_responses();
    let mut opened = match pending.open_stream(receiver, first) {
        Ok(opened) => opened,
        Err(receiver) => return reply::stream(first, Source::Responses(receiver.receiver), guard),
    };
    if supports_priming_event && let Some(streams) = pending.streams() {
        opened.events.insert(0, streams.priming_event(number));
    }
    drop(pending);
    read(driver, opened, guard)
}

fn read(driver: &Arc<Driver>, stream: ResumedStream, guard: Option<OnDrop>) -> HttpResponse {
    let source = match stream.live {
        Some(reader) => Source::StreamReader(StreamReader { driver: Arc::clone(driver), reader }),
        None => Source::Ended,
    };
    reply::events(Body::stream(stream.events.into(), source, guard))
}
