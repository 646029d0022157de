//! Streams as clients of sessions read them: one that a POST became, or one that is asked for.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler_transport::http::SESSION;
use tracing::warn;

use super::body::{Body, OnDrop, Source};
use super::conversation::Conversation;
use super::mail::Waiter;
use super::reply::{self, Answer, LAST_EVENT};
use super::sessions::Sessions;
use super::streams::{Streams, TakenUp};

/// A reader of a stream, for as long as it reads.
pub(super) struct Reading {
    pub(super) conversation: Arc<Conversation>,
    pub(super) reader: (u64, u64),
}

impl Reading {
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.conversation.mail().streams() {
            Some(streams) => streams.poll(self.reader, context),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(streams) = self.conversation.mail().streams() {
            streams.leave(self.reader);
        }
    }
}

/// A legacy GET: the stream for what belongs to no request, or the rest of one that broke off.
pub(super) fn listen(sessions: &Sessions, headers: &HeaderMap) -> Answer {
    let name = headers.get(SESSION).and_then(|name| name.to_str().ok());
    let Some(session) = name.and_then(|name| sessions.get(name)) else {
        return reply::refusal(StatusCode::NOT_FOUND, "there is no such session");
    };
    let conversation = &session.conversation;
    let taken_up = match headers.get(LAST_EVENT).map(HeaderValue::to_str) {
        None => conversation.mail().streams().map(Streams::listen),
        Some(id) => id.ok().and_then(|id| conversation.mail().take_up(id)),
    };
    let Some(taken_up) = taken_up else {
        let reason = "`Last-Event-ID` names no event of this session, or one of a stream that is \
                      over and no longer kept; without it the stream begins anew";
        return reply::refusal(StatusCode::BAD_REQUEST, reason);
    };
    if taken_up.has_gap {
        warn!(
            parent: conversation.span(),
            "a client resumed a stream so late that not all it has missed is kept"
        );
    }
    read(conversation, taken_up, None)
}

/// A POST becomes a stream. In sessions its client can come back for the rest of it.
pub(super) fn stream(
    conversation: &Arc<Conversation>,
    first: &[Bytes],
    waiter: Waiter,
    guard: Option<OnDrop>,
) -> Answer {
    let number = waiter.number;
    // Older clients take every event for a message.
    let knows_openings = conversation.agreed_revision() >= Some(Revision::V2025_11_25);
    let mut mail = conversation.mail();
    let mut begun = match mail.begin(waiter, first) {
        Ok(begun) => begun,
        Err(waiter) => return reply::stream(first, Source::Mail(waiter.receiver), guard),
    };
    if knows_openings && let Some(streams) = mail.streams() {
        begun.events.insert(0, streams.opening(number));
    }
    drop(mail);
    read(conversation, begun, guard)
}

fn read(conversation: &Arc<Conversation>, stream: TakenUp, guard: Option<OnDrop>) -> Answer {
    let source = match stream.live {
        Some(reader) => Source::Reading(Reading { conversation: Arc::clone(conversation), reader }),
        None => Source::Ended,
    };
    reply::events(Body::stream(stream.events.into(), source, guard))
}
