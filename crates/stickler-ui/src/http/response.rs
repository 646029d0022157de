//! Builds responses. Each has the headers that keep the page to its own files.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

pub(crate) type Body = BoxBody<Bytes, Infallible>;

/// Only files of the page itself; no inline scripts or styles, no frames, and no strings as markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

pub(crate) fn with(status: StatusCode, media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

pub(crate) fn bytes(
    status: StatusCode,
    media_type: &'static str,
    bytes: impl Into<Bytes>,
) -> Response<Body> {
    with(status, media_type, Full::new(bytes.into()).boxed())
}

pub(crate) fn json(value: &Value) -> Response<Body> {
    bytes(StatusCode::OK, "application/json", value.to_string())
}

/// An error with a sentence for the person at the page.
pub(crate) fn error(status: StatusCode, message: &str) -> Response<Body> {
    bytes(status, "application/json", json!({ "error": message }).to_string())
}

pub(crate) fn text(status: StatusCode, message: &str) -> Response<Body> {
    bytes(status, "text/plain; charset=utf-8", format!("{message}\n"))
}
