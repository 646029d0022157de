//! Content negotiation, the request target, and the `Host` check against DNS rebinding.
//!
//! All checks use only the request headers, before the body is read. They return the HTTP error response
//! of a rejected request, or `None`.

use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode, Uri, Version};
use stickler_protocol::headers;

use crate::downstream::http::reply::{self, HttpResponse};

/// Host names that a request may use for this machine.
///
/// Protects against DNS rebinding: a web page can resolve its own host name to the loopback address, and
/// the browser then treats the gateway as the same origin. Only the `Host` header reveals this.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedHosts {
    /// Names in addition to those of loopback; `None` allows any name.
    allowed: Option<Vec<String>>,
    /// The listen address, which nearly all clients send; compared first.
    listen_address: String,
}

impl AllowedHosts {
    /// Allows the listen address and the hosts of the allowed origins. A gateway that other machines can
    /// reach allows any name, because it cannot determine the names they use.
    pub(crate) fn new(listen: &str, is_loopback: bool, origins: &[String]) -> Self {
        if !is_loopback || origins.iter().any(|origin| origin == "*") {
            return Self::default();
        }
        let host_of = |origin: &String| Some(origin.parse::<Uri>().ok()?.host()?.to_owned());
        let name = listen.rsplit_once(':').map(|(host, _)| host.to_owned());
        let allowed = origins.iter().filter_map(host_of).chain(name).collect();
        Self { allowed: Some(allowed), listen_address: listen.to_owned() }
    }

    /// Rejects a request for a host that is not allowed, in its `Host` header or in an absolute request target.
    pub(crate) fn check(&self, headers: &HeaderMap, target: &Uri) -> Option<HttpResponse> {
        let allowed = self.allowed.as_ref()?;
        let is_allowed = |host: &str| {
            let name = without_port(host);
            host == self.listen_address
                || is_loopback(name)
                || allowed.iter().any(|one| one.eq_ignore_ascii_case(name))
        };
        let header = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
        let target = target.authority().map(Authority::as_str);
        if header.into_iter().chain(target).all(is_allowed) {
            return None;
        }
        let reason = "this `Host` is not allowed; use `localhost`, or allow its origin";
        Some(reply::invalid_request(StatusCode::FORBIDDEN, reason))
    }
}

/// Rejects an HTTP/1.1 request that does not have exactly one `Host` header (RFC 9112, section 3.2). Two recipients
/// could use different ones of several.
pub(crate) fn check_host_count(version: Version, headers: &HeaderMap) -> Option<HttpResponse> {
    let reason = match headers.get_all(HOST).iter().count() {
        0 if version == Version::HTTP_11 => "the `Host` header is missing",
        0 | 1 => return None,
        _ => "the request has several `Host` headers",
    };
    Some(reply::invalid_request(StatusCode::BAD_REQUEST, reason))
}

/// Returns the name in a `Host` header. A malformed value is returned unchanged and matches no name.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Rejects a request with an unsupported `Content-Type` or `Accept` header. A POST may omit both.
pub(crate) fn check_media_types(method: &Method, headers: &HeaderMap) -> Option<HttpResponse> {
    if method == Method::POST {
        if headers.get(CONTENT_TYPE).is_some_and(|media_type| !is_json(media_type.as_bytes())) {
            let reason = "the body must be `application/json`";
            return Some(reply::invalid_request(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        }
        let any = ["text/event-stream", "*/*", "application/*", "text/*"];
        let is_any = |media_type: &[u8]| is_json(media_type) || is_one_of(media_type, &any);
        if headers.contains_key(ACCEPT) && !accepts(headers, is_any) {
            let reason = "responses are `application/json` or `text/event-stream`; accept both";
            return Some(reply::invalid_request(StatusCode::NOT_ACCEPTABLE, reason));
        }
    }
    if method == Method::GET && !accepts_streams(headers) {
        let reason = "a GET must accept `text/event-stream`";
        return Some(reply::invalid_request(StatusCode::NOT_ACCEPTABLE, reason));
    }
    None
}

/// Returns the protocol version in the request headers.
pub(crate) fn version(headers: &HeaderMap) -> Option<&str> {
    static VERSION: HeaderName = HeaderName::from_static(headers::VERSION);
    headers.get(&VERSION)?.to_str().ok()
}

pub(crate) fn accepts_streams(headers: &HeaderMap) -> bool {
    accepts(headers, |media_type| is_one_of(media_type, &["text/event-stream", "text/*", "*/*"]))
}

/// Returns whether an accepted media type matches. Tolerates wrong separators, which some clients send.
fn accepts(headers: &HeaderMap, is_match: impl Fn(&[u8]) -> bool) -> bool {
    let is_separator = |byte: &u8| b",; \t".contains(byte);
    headers.get_all(ACCEPT).iter().any(|value| value.as_bytes().split(is_separator).any(&is_match))
}

fn is_one_of(media_type: &[u8], media_types: &[&str]) -> bool {
    media_types.iter().any(|one| media_type.eq_ignore_ascii_case(one.as_bytes()))
}

/// Also matches variants such as `application/json-rpc` and `application/vnd.example+json`.
fn is_json(media_type: &[u8]) -> bool {
    let media_type = media_type.split(|byte| *byte == b';').next().unwrap_or_default();
    is_one_of(media_type, &["application/json"])
        || media_type.windows(4).any(|part| part.eq_ignore_ascii_case(b"json"))
}

#[cfg(test)]
mod tests {
    use super::{accepts_streams, check_media_types};
    use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
    use hyper::{HeaderMap, Method};

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn event_stream_is_accepted_in_any_common_notation() {
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
    fn json_content_type_variants_are_accepted() {
        let is_rejected = |media_type| {
            check_media_types(&Method::POST, &headers(&CONTENT_TYPE, &[media_type])).is_some()
        };
        for media_type in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json-rpc",
            "application/vnd.example+json",
        ] {
            assert!(!is_rejected(media_type), "{media_type}");
        }
        for media_type in ["text/plain", "", "text/plain; note=json", "application/jso"] {
            assert!(is_rejected(media_type), "{media_type}");
        }
    }
}
