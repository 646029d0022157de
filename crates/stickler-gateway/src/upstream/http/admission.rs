//! Judges a client message up to the decision to forward or to answer it.
//!
//! Contract: a message that waits for the tool list or for work is judged again when that is done, and every message is
//! either forwarded or answered. Nothing is sent to the server but requests of the gateway.

use std::sync::Arc;

use bytes::Bytes;
use hyper::HeaderMap;
use stickler::Era;
use stickler_protocol::RequestContext;
use stickler_protocol::envelope::RequestId;

use crate::downstream::http::body::Source;
use crate::downstream::http::reply::{self, HttpResponse};
use crate::driver::message::{Message, Origin};
use crate::driver::pending_responses::{Delivery, ResponseReceiver};
use crate::driver::{Driver, PostOutcome, WaitPolicy};

/// The decision on a client message.
pub(crate) enum Admission {
    /// Forward the message. Its requests wait for a response; the answers belong to rejected parts of a batch.
    Forward { message: Message, ids: Vec<RequestId>, answers: Vec<Message> },
    /// Nothing is left to forward.
    Answer(HttpResponse),
}

/// Judges a message. Gateway requests for it have the given headers.
pub(crate) async fn admit(
    driver: &Arc<Driver>,
    (headers, body): (&HeaderMap, &Bytes),
    context: &RequestContext,
    era: Era,
) -> Admission {
    let PostOutcome { mut answers, mut to_server, ids, responses } =
        driver.post(body, context, true, WaitPolicy::IfHeld);
    let forwarded = to_server.iter().position(|one| one.origin == Origin::Peer);
    let forwarded = forwarded.map(|index| to_server.remove(index));
    if !to_server.is_empty() || responses.is_some() {
        driver.set_context(headers);
    }
    driver.send(to_server);
    match (forwarded, responses) {
        (Some(message), _) => Admission::Forward { message, ids, answers },
        (None, Some(responses)) => wait_for_release(responses, answers, era).await,
        (None, None) => Admission::Answer(
            answers.pop().map_or_else(reply::accepted, |one| reply::response(one, era)),
        ),
    }
}

/// Waits until a held message is released. Parts of a batch may be answered before the rest is forwarded.
async fn wait_for_release(
    mut responses: ResponseReceiver,
    mut answers: Vec<Message>,
    era: Era,
) -> Admission {
    loop {
        match responses.recv().await {
            Some(Delivery::Forward(message)) => {
                let ids = message.header.requests().cloned().collect();
                return Admission::Forward { message, ids, answers };
            }
            Some(Delivery::Message(answer)) => answers.push(answer),
            Some(Delivery::Last(answer)) if answers.is_empty() => {
                return Admission::Answer(reply::response(answer, era));
            }
            Some(Delivery::Last(answer)) => {
                answers.push(answer);
                return Admission::Answer(reply::stream(&answers, Source::Ended, None));
            }
            Some(Delivery::End) | None => {
                return Admission::Answer(reply::stream(&answers, Source::Ended, None));
            }
        }
    }
}
