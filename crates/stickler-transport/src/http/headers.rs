//! HTTP header helpers shared by all clients of MCP servers.

use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName};

/// The session id header.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Whether the `Content-Type` has the media type `name`, ignoring case and parameters.
pub fn has_content_type(headers: &HeaderMap, name: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes().trim_ascii_start());
    let beginning = kind.and_then(|kind| kind.get(..name.len()));
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::has_content_type;
    use hyper::HeaderMap;
    use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn content_type_comparison_ignores_case_and_parameters() {
        for kind in ["text/event-stream", "Text/Event-Stream; charset=utf-8", " TEXT/EVENT-STREAM"]
        {
            assert!(
                has_content_type(&headers(&CONTENT_TYPE, &[kind]), "text/event-stream"),
                "{kind}"
            );
        }
        assert!(!has_content_type(&headers(&CONTENT_TYPE, &["text/html"]), "text/event-stream"));
        assert!(!has_content_type(&HeaderMap::new(), "text/event-stream"));
    }
}
