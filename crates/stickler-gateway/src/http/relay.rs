//! One request to an HTTP server, and its answer.

mod failing;
mod streaming;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Response, StatusCode};
use stickler::Code;
use stickler_protocol::envelope::{Address, Bearing, RequestId};
use stickler_transport::http::{Lease, Received, Unsent, is_kind, old_transport, receive};

use super::body::{Body, OnDrop, Source};
use super::conversation::{Conversation, Heard, Posted, Waits, is_same_message};
use super::deadline::Deadline;
use super::hop::strip_answer;
use super::letter::Letter;
use super::mail::{Parcel, Waiter};
use super::reply::{self, Answer};
use super::to_url::Proxy;
use failing::answered_with;

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Open,
    /// Nothing new; streams that have no end are ended.
    Closing,
    /// Everything ends.
    Closed,
}

const TOO_LATE: &str = "the server gave no answer in time";

const SHUTTING_DOWN: &str = "the gateway is shutting down";

const CLIENT_LEFT: &str = "the client went away";

/// A request on its way.
pub(super) struct Exchange<'p> {
    pub(super) proxy: &'p Arc<Proxy>,
    pub(super) conversation: &'p Arc<Conversation>,
    pub(super) is_modern: bool,
    /// It is the handshake of the legacy era.
    pub(super) opens: bool,
}

impl<'p> Exchange<'p> {
    pub(super) fn new(proxy: &'p Arc<Proxy>, conversation: &'p Arc<Conversation>) -> Self {
        Self { proxy, conversation, is_modern: false, opens: false }
    }
}

impl Exchange<'_> {
    pub(super) async fn post(&self, headers: HeaderMap, letter: Letter) -> Answer {
        let Posted { mut answers, mut onward, ids, mail } =
            self.conversation.post(&letter, true, Waits::IfHeld);
        let body = &letter.body;
        let mine = onward.iter().position(|one| is_same_message(one, body));
        let mine = mine.map(|index| onward.remove(index));
        if !onward.is_empty() || mail.is_some() {
            self.conversation.set_context(&headers);
        }
        self.conversation.send(onward);
        let (message, ids) = match (mine, mail) {
            (Some(message), _) => (message, ids),
            (None, Some(mail)) => match self.held(mail, &mut answers).await {
                Ok(message) => {
                    let ids = Letter::of(message.clone()).requests();
                    (message, ids)
                }
                Err(answer) => return answer,
            },
            (None, None) => {
                return answers.pop().map_or_else(reply::accepted, |one| self.verdict(one));
            }
        };
        let session = headers.clone();
        let mut guard = self.abandon_on_drop(&message);
        self.wait_for_streams(&letter, &ids).await;
        let late = Deadline::of(self, &message, &ids);
        let sent = tokio::select! {
            sent = self.send(Method::POST, headers, message) => sent,
            () = late.passed() => {
                guard.0 = None;
                self.conversation.set_context(&session);
                answers.extend(late.end(self.conversation));
                return answered_with(answers, Code::Timeout, TOO_LATE);
            }
        };
        let (response, lease) = match sent {
            Ok(sent) => sent,
            Err(unsent) => return self.unsent(answers, &ids, &unsent),
        };
        if response.status() == StatusCode::NOT_FOUND && !self.is_modern {
            self.proxy.forget(&session);
        }
        let status = response.status();
        if self.opens && old_transport::is_spoken(&self.proxy.upstream, status, &session).await {
            let unsent = Unsent::Other(Code::CannotStart, old_transport::REASON.to_owned());
            return self.unsent(answers, &ids, &unsent);
        }
        let answer = self.answer(response, lease, late, answers, session).await;
        guard.0 = None;
        answer
    }

    /// Waits for what becomes of a message that was held: what goes on of it, or the answer. A part of a
    /// batch may be answered before the rest goes on.
    async fn held(&self, mut mail: Waiter, answers: &mut Vec<Bytes>) -> Result<Bytes, Answer> {
        loop {
            match mail.recv().await {
                Some(Parcel::Forward(message)) => return Ok(message),
                Some(Parcel::Message(answer)) => answers.push(answer),
                Some(Parcel::Last(answer)) if answers.is_empty() => {
                    return Err(self.verdict(answer));
                }
                Some(Parcel::Last(answer)) => {
                    answers.push(answer);
                    return Err(reply::stream(answers, Source::Ended, None));
                }
                Some(Parcel::End) | None => {
                    return Err(reply::stream(answers, Source::Ended, None));
                }
            }
        }
    }

    /// Streams are for sessions, which only the legacy era has.
    async fn wait_for_streams(&self, letter: &Letter, ids: &[RequestId]) {
        let opening = &self.conversation.opening;
        if !self.is_modern && !ids.is_empty() {
            opening.first().await;
        }
        opening.done().await;
        if !self.is_modern && ids.is_empty() && letter.is_initialized() {
            opening.expect();
        }
    }

    /// A client that goes away while the server thinks leaves no request behind.
    fn abandon_on_drop(&self, message: &Bytes) -> OnDrop {
        let (conversation, message) = (Arc::clone(self.conversation), message.clone());
        OnDrop(Some(Box::new(move || conversation.abandon(&message))))
    }

    pub(super) async fn get(&self, headers: HeaderMap) -> Answer {
        self.conversation.set_context(&headers);
        let opening = self.conversation.opening.begin();
        let sent = self.send(Method::GET, headers.clone(), Bytes::new()).await;
        drop(opening);
        match sent {
            Ok((response, lease)) => {
                self.answer(response, lease, Deadline::none(), Vec::new(), headers).await
            }
            Err(unsent) => self.unsent(Vec::new(), &[], &unsent),
        }
    }

    /// A request without a message.
    pub(super) async fn bare(&self, method: Method, headers: HeaderMap) -> Answer {
        match self.send(method, headers.clone(), Bytes::new()).await {
            Ok((response, lease)) => {
                self.answer(response, lease, Deadline::none(), Vec::new(), headers).await
            }
            Err(unsent) => self.unsent(Vec::new(), &[], &unsent),
        }
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(Response<Incoming>, Lease), Unsent> {
        let sent = self.proxy.upstream.send(method, headers, body).await;
        let over = || Unsent::Other(Code::ServerGone, SHUTTING_DOWN.to_owned());
        sent.map_err(|unsent| if self.is_over() { over() } else { unsent })
    }

    /// Whatever breaks off then, breaks off because of that.
    fn is_over(&self) -> bool {
        *self.proxy.phase.borrow() == Phase::Closed
    }

    async fn answer(
        &self,
        response: Response<Incoming>,
        lease: Lease,
        late: Deadline,
        mut answers: Vec<Bytes>,
        request: HeaderMap,
    ) -> Answer {
        let ids = late.ids.clone();
        let ids = ids.as_slice();
        let (mut parts, incoming) = response.into_parts();
        strip_answer(&mut parts.headers);
        if is_kind(&parts.headers, "text/event-stream") {
            self.conversation.set_context(&request);
            reply::unbuffered(&mut parts.headers);
            let body = self.stream(incoming, lease, late, &answers);
            return Response::from_parts(parts, body);
        }
        let is_json = is_kind(&parts.headers, "application/json");
        let received = tokio::select! {
            received = receive(incoming, self.proxy.recipe.message_bytes()) => received,
            () = late.passed() => {
                self.conversation.set_context(&request);
                answers.extend(late.end(self.conversation));
                return answered_with(answers, Code::Timeout, TOO_LATE);
            }
        };
        let bytes = match received {
            Received::Whole(bytes) => bytes,
            Received::Broken if self.is_over() => return self.lost(answers, ids, SHUTTING_DOWN),
            Received::Broken => return self.lost(answers, ids, "the server broke off its answer"),
            Received::TooLarge(_) => {
                return self.lost(answers, ids, "the server's answer is too large");
            }
        };
        lease.give_back();
        let is_message = || Address::of(&bytes).bearing != Bearing::Unknown;
        if !is_json || bytes.is_empty() || !parts.status.is_success() && !is_message() {
            return self.no_message(answers, ids, parts, bytes);
        }
        let heard = self.conversation.hear_whole(&bytes);
        let message = self.pick(heard, ids).await;
        match message {
            Some(message) if answers.is_empty() => {
                Response::from_parts(parts, Body::whole(message))
            }
            Some(message) => {
                let all: Vec<Bytes> = answers.into_iter().chain([message]).collect();
                reply::stream(&all, Source::Ended, None)
            }
            None if ids.is_empty() && !answers.is_empty() => {
                answered_with(answers, Code::Protocol, "the server gave no message")
            }
            None if ids.is_empty() => Response::from_parts(parts, Body::whole(bytes)),
            None if !parts.status.is_success() => {
                // Some servers refuse without looking at the id. The status says enough.
                self.give_up(ids, Code::Protocol, "the server refused the request");
                Response::from_parts(parts, Body::whole(bytes))
            }
            None => self.lost(answers, ids, "the server's answer is none to this request"),
        }
    }

    /// What is for this request; the rest goes to those that it belongs to.
    async fn pick(&self, heard: Heard, ids: &[RequestId]) -> Option<Bytes> {
        let Heard { mut to_client, to_server } = heard;
        let is_ours = |message: &Bytes| is_answer_to(message, ids);
        let ours = to_client.iter().position(is_ours).map(|index| to_client.remove(index));
        self.conversation.pass(Heard { to_client, to_server }).await;
        ours
    }

    fn verdict(&self, answer: Bytes) -> Answer {
        if self.is_modern { super::modern::verdict(answer) } else { reply::verdict(answer) }
    }
}

fn is_answer_to(message: &[u8], ids: &[RequestId]) -> bool {
    let address = Address::of(message);
    match address.bearing {
        Bearing::Response => match address.request_id(message) {
            Some(id) => ids.contains(&id),
            // An error to something whose id could not be read can only be for whoever sent it.
            None => true,
        },
        Bearing::Batch => true,
        _ => false,
    }
}
