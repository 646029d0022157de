//! Requests to an HTTP server that it does not answer: what is said in its place.

use bytes::Bytes;
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use stickler::Code;
use stickler_protocol::envelope::RequestId;
use stickler_transport::http::Unsent;

use super::Exchange;
use crate::http::body::{Body, Source};
use crate::http::reply::{self, Answer, Rejection};
use tracing::warn;

impl Exchange<'_> {
    /// The requests of a message get no answer from the server: what is said in its place.
    pub(super) fn unsent(&self, answers: Vec<Bytes>, ids: &[RequestId], unsent: &Unsent) -> Answer {
        let (code, reason) = unsent.told();
        warn!(parent: self.conversation.span(), rule = code.as_str(), "[{code}] {reason}");
        let mut answer = self.given_up(answers, ids, code, &reason);
        if code == Code::CannotStart && matches!(answer.body(), Body::Whole(_)) {
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
        }
        answer
    }

    /// An answer without a message: a page of some proxy, or nothing at all. By a status that tells of a
    /// failure, whoever asked can tell; where it tells of none, nothing else would answer him.
    pub(super) fn no_message(
        &self,
        answers: Vec<Bytes>,
        ids: &[RequestId],
        parts: Parts,
        bytes: Bytes,
    ) -> Answer {
        let status = parts.status;
        let reason = format!("the server gave no message (HTTP status {status})");
        if answers.is_empty() && (ids.is_empty() || !status.is_success()) {
            self.give_up(ids, Code::Protocol, &reason);
            return Response::from_parts(parts, Body::whole(bytes));
        }
        self.given_up(answers, ids, Code::Protocol, &reason)
    }

    /// Requests that will not be answered get errors, beside the answers that others of their batch have.
    pub(super) fn given_up(
        &self,
        mut answers: Vec<Bytes>,
        ids: &[RequestId],
        code: Code,
        reason: &str,
    ) -> Answer {
        answers.extend(self.give_up(ids, code, reason));
        answered_with(answers, code, reason)
    }

    /// A message was sent and will not be answered.
    pub(super) fn lost(&self, answers: Vec<Bytes>, ids: &[RequestId], reason: &str) -> Answer {
        let code = Code::ServerGone;
        warn!(parent: self.conversation.span(), rule = code.as_str(), "[{code}] {reason}");
        self.given_up(answers, ids, Code::ServerGone, reason)
    }

    pub(super) fn give_up(&self, ids: &[RequestId], code: Code, reason: &str) -> Vec<Bytes> {
        ids.iter().filter_map(|id| self.conversation.give_up_on(id, code, reason)).collect()
    }
}

/// Answers of our own; where nobody asked, only why nothing came of it.
pub(super) fn answered_with(mut answers: Vec<Bytes>, code: Code, reason: &str) -> Answer {
    match answers.pop() {
        Some(answer) if answers.is_empty() => reply::json(StatusCode::OK, answer),
        Some(answer) => {
            answers.push(answer);
            reply::stream(&answers, Source::Ended, None)
        }
        None => {
            let reason = format!("[{code}] {reason}");
            let mut answer = reply::refusal(StatusCode::BAD_GATEWAY, &reason);
            // It is logged where the reason is found.
            answer.extensions_mut().remove::<Rejection>();
            answer
        }
    }
}
