//! What a request says in its headers, before anything is read: which host it wants, what it brings
//! and what it takes, which version of the protocol it belongs to.

use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName};
use hyper::{HeaderMap, Method, StatusCode, Uri};
use stickler_protocol::headers;

use super::reply::{self, Answer};

/// Whose names a request may use for this machine.
///
/// A page of some other site can have its own name resolved to this machine's loopback address, and
/// then its scripts are taken for ours by the browser; only the name that they use gives them away.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    /// Names beside those of loopback; `None` when any will do.
    allowed: Option<Vec<String>>,
    /// What nearly every client calls it: the address that it was told.
    usual: String,
}

impl Hosts {
    /// For an address and what is let in beside: those who listen to other machines are known by
    /// names that nobody here can know.
    pub(super) fn new(listen: &str, is_loopback: bool, origins: &[String]) -> Self {
        if !is_loopback || origins.iter().any(|origin| origin == "*") {
            return Self::default();
        }
        let of_origin = |origin: &String| Some(origin.parse::<Uri>().ok()?.host()?.to_owned());
        let name = listen.rsplit_once(':').map(|(host, _)| host.to_owned());
        let allowed = origins.iter().filter_map(of_origin).chain(name).collect();
        Self { allowed: Some(allowed), usual: listen.to_owned() }
    }

    /// The refusal of a request for some other host.
    pub(super) fn check(&self, headers: &HeaderMap) -> Option<Answer> {
        let allowed = self.allowed.as_ref()?;
        let host = headers.get(HOST)?;
        if host.as_bytes() == self.usual.as_bytes() {
            return None;
        }
        let host = host.to_str().unwrap_or_default();
        let name = without_port(host);
        if is_loopback(name) || allowed.iter().any(|one| one.eq_ignore_ascii_case(name)) {
            return None;
        }
        let reason = "this `Host` is not served here; call it `localhost`, or allow its origin";
        Some(reply::refusal(StatusCode::FORBIDDEN, reason))
    }
}

/// The name in a `Host` header. Something odd is left as it is: it is nobody's name.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The refusal of a request that brings or takes the wrong kind of thing. What is not said at all is
/// not held against anybody.
pub(super) fn check_kinds(method: &Method, headers: &HeaderMap) -> Option<Answer> {
    if method == Method::POST {
        if headers.get(CONTENT_TYPE).is_some_and(|kind| !is_json(kind.as_bytes())) {
            let reason = "the body must be `application/json`";
            return Some(reply::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        }
        let any = ["text/event-stream", "*/*", "application/*", "text/*"];
        let is_any = |kind: &[u8]| is_json(kind) || is_one_of(kind, &any);
        if headers.contains_key(ACCEPT) && !accepts(headers, is_any) {
            let reason = "answers are `application/json` or `text/event-stream`; accept both";
            return Some(reply::refusal(StatusCode::NOT_ACCEPTABLE, reason));
        }
    }
    if method == Method::GET && !accepts_streams(headers) {
        let reason = "a GET must accept `text/event-stream`";
        return Some(reply::refusal(StatusCode::NOT_ACCEPTABLE, reason));
    }
    None
}

/// The version of the protocol that a request says it belongs to.
pub(super) fn version(headers: &HeaderMap) -> Option<&str> {
    static VERSION: HeaderName = HeaderName::from_static(headers::VERSION);
    headers.get(&VERSION)?.to_str().ok()
}

pub(super) fn accepts_streams(headers: &HeaderMap) -> bool {
    accepts(headers, |kind| is_one_of(kind, &["text/event-stream", "text/*", "*/*"]))
}

/// Whether one of the media types that a client takes counts. Some put the wrong thing between them.
fn accepts(headers: &HeaderMap, counts: impl Fn(&[u8]) -> bool) -> bool {
    let between = |byte: &u8| b",; \t".contains(byte);
    headers.get_all(ACCEPT).iter().any(|value| value.as_bytes().split(between).any(&counts))
}

fn is_one_of(kind: &[u8], kinds: &[&str]) -> bool {
    kinds.iter().any(|one| kind.eq_ignore_ascii_case(one.as_bytes()))
}

/// Some call it `application/json-rpc`, or `application/vnd.example+json`. Parameters may follow.
fn is_json(kind: &[u8]) -> bool {
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    is_one_of(kind, &["application/json"])
        || kind.windows(4).any(|part| part.eq_ignore_ascii_case(b"json"))
}

#[cfg(test)]
mod tests {
    use super::{accepts_streams, check_kinds};
    use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
    use hyper::{HeaderMap, Method};

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn streams_are_for_those_who_take_them() {
        for accept in [
            "text/event-stream",
            "application/json, text/event-stream",
            "application/json;q=0.5,Text/Event-Stream;q=0.9",
            "application/json; text/event-stream",
            "*/*",
        ] {
            assert!(accepts_streams(&headers(&ACCEPT, &[accept])), "{accept}");
        }
        assert!(accepts_streams(&headers(&ACCEPT, &["application/json", "text/*"])), "two headers");
        for accept in ["application/json", "", "text/event-streams", "text"] {
            assert!(!accepts_streams(&headers(&ACCEPT, &[accept])), "{accept}");
        }
        assert!(!accepts_streams(&HeaderMap::new()));
    }

    #[test]
    fn bodies_are_json_by_any_of_its_names() {
        let is_refused =
            |kind| check_kinds(&Method::POST, &headers(&CONTENT_TYPE, &[kind])).is_some();
        for kind in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json-rpc",
            "application/vnd.example+json",
        ] {
            assert!(!is_refused(kind), "{kind}");
        }
        for kind in ["text/plain", "", "text/plain; note=json", "application/jso"] {
            assert!(is_refused(kind), "{kind}");
        }
    }
}
