//! Error responses for requests that the server at a URL does not answer.

use bytes::Bytes;
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use stickler::Code;
use stickler_protocol::envelope::RequestId;
use stickler_transport::http::SendError;

use crate::downstream::http::body::{Body, Source};
use crate::downstream::http::reply::{self, HttpResponse, Rejection};
use crate::driver::message::Message;
use crate::upstream::http::relay::Exchange;
use tracing::warn;

impl Exchange<'_> {
    /// Answers requests that could not be sent or got no response.
    pub(crate) fn send_failed(
        &self,
        answers: Vec<Message>,
        ids: &[RequestId],
        error: &SendError,
    ) -> HttpResponse {
        let (code, reason) = error.code_and_message();
        warn!(parent: self.driver.span(), rule = code.as_str(), "[{code}] {reason}");
        let mut answer = self.answer_with_errors(answers, ids, code, &reason);
        if code == Code::CannotStart && matches!(answer.body(), Body::Whole(_)) {
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
        }
        answer
    }

    /// Answers requests to which the server responded with 101, after which the connection carries no HTTP.
    pub(crate) fn switched_protocols(
        &self,
        answers: Vec<Message>,
        ids: &[RequestId],
    ) -> HttpResponse {
        let reason = "the server switched protocols (HTTP status 101), which was not requested";
        warn!(parent: self.driver.span(), rule = Code::Protocol.as_str(), "{reason}");
        let mut answer = self.answer_with_errors(answers, ids, Code::Protocol, reason);
        *answer.status_mut() = StatusCode::BAD_GATEWAY;
        answer
    }

    /// Handles a response without a message, for example the error page of a proxy. An error status is
    /// forwarded unchanged; with a success status, pending requests are answered with errors.
    pub(crate) fn response_without_message(
        &self,
        answers: Vec<Message>,
        ids: &[RequestId],
        parts: Parts,
        bytes: Bytes,
    ) -> HttpResponse {
        let status = parts.status;
        let reason = format!("the server sent no message (HTTP status {status})");
        if answers.is_empty() && (ids.is_empty() || !status.is_success()) {
            self.fail_requests(ids, Code::Protocol, &reason);
            return Response::from_parts(parts, Body::whole(bytes));
        }
        self.answer_with_errors(answers, ids, Code::Protocol, &reason)
    }

    /// Answers requests with errors, in addition to existing answers of the same batch.
    pub(crate) fn answer_with_errors(
        &self,
        mut answers: Vec<Message>,
        ids: &[RequestId],
        code: Code,
        reason: &str,
    ) -> HttpResponse {
        answers.extend(self.fail_requests(ids, code, reason));
        from_answers(answers, code, reason)
    }

    /// Logs and answers requests that were sent but will not get a response.
    pub(crate) fn response_lost(
        &self,
        answers: Vec<Message>,
        ids: &[RequestId],
        reason: &str,
    ) -> HttpResponse {
        let code = Code::ServerGone;
        warn!(parent: self.driver.span(), rule = code.as_str(), "[{code}] {reason}");
        self.answer_with_errors(answers, ids, Code::ServerGone, reason)
    }

    pub(crate) fn fail_requests(
        &self,
        ids: &[RequestId],
        code: Code,
        reason: &str,
    ) -> Vec<Message> {
        ids.iter().filter_map(|id| self.driver.abandon_request(id, code, reason)).collect()
    }
}

/// Builds the response from gateway answers. Without any answer it is an error with the reason.
pub(crate) fn from_answers(mut answers: Vec<Message>, code: Code, reason: &str) -> HttpResponse {
    match answers.pop() {
        Some(answer) if answers.is_empty() => reply::json(StatusCode::OK, answer.bytes),
        Some(answer) => {
            answers.push(answer);
            reply::stream(&answers, Source::Ended, None)
        }
        None => {
            let reason = format!("[{code}] {reason}");
            let mut answer = reply::invalid_request(StatusCode::BAD_GATEWAY, &reason);
            // The reason has already been logged.
            answer.extensions_mut().remove::<Rejection>();
            answer
        }
    }
}
