//! Removes hop-by-hop headers (RFC 9110, section 7.6.1) from forwarded requests and responses.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

static HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Removes hop-by-hop headers from a response, and its length, which hyper recomputes.
pub(crate) fn strip_response(headers: &mut HeaderMap) {
    strip(headers);
    headers.remove(CONTENT_LENGTH);
}

/// Removes hop-by-hop headers from a request, and those that the gateway sets or meets itself. Without
/// `Accept-Encoding` the server sends uncompressed responses, which the gateway must read. The gateway has sent
/// `100 Continue` and read the body before it forwards a request.
pub(crate) fn strip_request(headers: &mut HeaderMap) {
    strip(headers);
    headers.remove(ACCEPT_ENCODING);
    headers.remove(EXPECT);
    headers.remove(HOST);
}

/// Removes the hop-by-hop headers and the headers that `Connection` names.
fn strip(headers: &mut HeaderMap) {
    if !headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        return;
    }
    let named = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok());
    let present = headers.keys().filter(|name| HOP_BY_HOP.contains(name)).cloned();
    let removed: Vec<HeaderName> = named.chain(present).collect();
    for name in removed {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::{strip_request, strip_response};
    use hyper::HeaderMap;
    use hyper::header::HeaderValue;

    fn left(strip: fn(&mut HeaderMap), given: &[(&'static str, &'static str)]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, HeaderValue::from_static(value));
        }
        strip(&mut headers);
        let mut left: Vec<String> = headers.keys().map(ToString::to_string).collect();
        left.sort_unstable();
        left
    }

    #[test]
    fn headers_named_by_connection_are_removed() {
        let given = [
            ("connection", "close, X-Hop"),
            ("connection", "keep-alive"),
            ("keep-alive", "timeout=5"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("proxy-authorization", "Basic eA=="),
            ("authorization", "Bearer x"),
            ("mcp-session-id", "a"),
        ];
        assert_eq!(left(strip_response, &given), ["authorization", "mcp-session-id"]);
    }

    #[test]
    fn response_length_is_removed_and_other_headers_are_kept() {
        let given = [("content-length", "3"), ("content-type", "application/json"), ("vary", "a")];
        assert_eq!(left(strip_response, &given), ["content-type", "vary"]);
    }

    #[test]
    fn request_host_expectation_and_accept_encoding_are_removed() {
        let given = [
            ("host", "gateway"),
            ("expect", "100-continue"),
            ("accept-encoding", "br"),
            ("accept", "*/*"),
            ("content-length", "3"),
        ];
        assert_eq!(left(strip_request, &given), ["accept", "content-length"]);
    }
}
