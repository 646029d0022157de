//! What HTTP itself asks of a request, before anything is read: which host it wants, what it brings
//! and what it takes.

use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName};
use hyper::{HeaderMap, Method, StatusCode, Uri};

use super::reply::{self, Answer};

/// Whose names a request may use for this machine.
///
/// A page of some other site can have its own name resolved to this machine's loopback address, and
/// then its scripts are taken for ours by the browser; only the name that they use gives them away.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts {
    /// Names beside those of loopback; `None` when any will do.
    allowed: Option<Vec<String>>,
}

impl Hosts {
    /// For an address and what is let in beside: those who listen to other machines are known by
    /// names that nobody here can know.
    pub(super) fn new(listen: &str, is_loopback: bool, origins: &[String]) -> Self {
        if !is_loopback || origins.iter().any(|origin| origin == "*") {
            return Self { allowed: None };
        }
        let of_origin = |origin: &String| Some(origin.parse::<Uri>().ok()?.host()?.to_owned());
        let listen = listen.rsplit_once(':').map(|(host, _)| host.to_owned());
        Self { allowed: Some(origins.iter().filter_map(of_origin).chain(listen).collect()) }
    }

    /// The refusal of a request for some other host.
    pub(super) fn check(&self, headers: &HeaderMap) -> Option<Answer> {
        let allowed = self.allowed.as_ref()?;
        let host = headers.get(HOST)?.to_str().unwrap_or_default();
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
        if headers.contains_key(CONTENT_TYPE) && !names(headers, CONTENT_TYPE, &["json"]) {
            let reason = "the body must be `application/json`";
            return Some(reply::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        }
        let any = ["application/json", "text/event-stream", "*/*", "application/*", "text/*"];
        if headers.contains_key(ACCEPT) && !names(headers, ACCEPT, &any) {
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

pub(super) fn accepts_streams(headers: &HeaderMap) -> bool {
    names(headers, ACCEPT, &["text/event-stream", "text/*", "*/*"])
}

fn names(headers: &HeaderMap, header: HeaderName, kinds: &[&str]) -> bool {
    let values = headers.get_all(header);
    let mut values = values.iter().map(|value| value.as_bytes().to_ascii_lowercase());
    values.any(|value| {
        kinds.iter().any(|kind| memchr::memmem::find(&value, kind.as_bytes()).is_some())
    })
}
