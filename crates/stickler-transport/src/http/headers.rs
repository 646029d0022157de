//! The HTTP headers that every client of an MCP server reads.

use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName};

/// The header that names a session.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Whether an answer is of that kind, whatever its parameters are.
pub fn is_kind(headers: &HeaderMap, name: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes().trim_ascii_start());
    let beginning = kind.and_then(|kind| kind.get(..name.len()));
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::is_kind;
    use hyper::HeaderMap;
    use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn kinds_are_the_same_in_any_case() {
        for kind in ["text/event-stream", "Text/Event-Stream; charset=utf-8", " TEXT/EVENT-STREAM"]
        {
            assert!(is_kind(&headers(&CONTENT_TYPE, &[kind]), "text/event-stream"), "{kind}");
        }
        assert!(!is_kind(&headers(&CONTENT_TYPE, &["text/html"]), "text/event-stream"));
        assert!(!is_kind(&HeaderMap::new(), "text/event-stream"));
    }
}
