//! HTTP rules of revision 2026-07-28: headers that mirror the body, and removed methods.

use hyper::header::HeaderValue;
use hyper::{HeaderMap, StatusCode};
use stickler::Revision;
use stickler::rules::json_rpc;
use stickler_protocol::headers::{self, HeaderRejection, PARAM, ParamHeaders};
use stickler_protocol::{Event, Reply, Side};

use crate::downstream::http::reply::{self, HttpResponse};
use crate::driver::message::Message;
use crate::log::Log;
use crate::observe::emitted::{Emitted, Payload, Received, of_message};

/// Compares the headers of a request with its body; returns a hash of the client capabilities.
pub(crate) fn check(headers: &HeaderMap, body: &[u8]) -> Result<u64, HeaderRejection> {
    let header = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        // Repeated headers with different values are ambiguous and never match the body.
        let is_unambiguous = values.all(|other| other == first);
        Some(if is_unambiguous { text(first) } else { "" })
    };
    headers::check(body, header)
}

/// Checks the headers of a request for a server behind this process, which decides itself which versions it supports.
/// Returns the hash of the client capabilities, or the response to a request with mismatched headers.
pub(crate) fn admit(headers: &HeaderMap, body: &[u8], log: &Log) -> Result<u64, Box<HttpResponse>> {
    check(headers, body).or_else(|rejection| match rejection.code {
        json_rpc::UNSUPPORTED_VERSION => Ok(0),
        _ => Err(Box::new(reject(rejection, body, log))),
    })
}

/// A value that is not text becomes empty: it is present but never matches the body.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

/// Returns the headers of a request that mirror tool arguments.
pub(crate) fn param_headers(headers: &HeaderMap) -> ParamHeaders {
    let found = headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAM));
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    ParamHeaders::new(found.map(|(name, value)| (name.as_str().to_owned(), text(value))))
}

/// Returns the response to a request with mismatched headers, and reports the rejection to the observers.
pub(crate) fn reject(rejection: HeaderRejection, body: &[u8], log: &Log) -> HttpResponse {
    let answer = Message::from(Reply::clone(&rejection.answer));
    let verdict = rejection.clone().into();
    let event = Event::Checked { sender: Side::Client, verdict };
    let emitted = [Emitted::Event(&event), of_message(Side::Client, &answer)];
    let received = Received { sender: Side::Client, message: Payload::Borrowed(body), trace: None };
    log.observe(Some(received), emitted.into_iter());
    reply::header_rejection(rejection)
}

/// Returns the response to a request with a method that the revision has removed.
pub(crate) fn method_not_found(request: &[u8], method: &str) -> HttpResponse {
    let reason = format!("Method not found: `{method}` is not a method of {}", Revision::LATEST);
    reply::error(StatusCode::NOT_FOUND, request, json_rpc::METHOD_NOT_FOUND, &reason)
}
