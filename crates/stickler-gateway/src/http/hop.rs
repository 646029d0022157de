//! What belongs to one connection, and is not passed on to the next.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderName, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

static OF_CONNECTION: [HeaderName; 9] = [
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

/// For what comes back: the length is made anew, too.
pub(super) fn strip_answer(headers: &mut HeaderMap) {
    strip(headers);
    headers.remove(CONTENT_LENGTH);
}

/// For what goes to the server: without what would make its answer unreadable. Whoever sends it sees to
/// the length.
pub(super) fn strip_request(headers: &mut HeaderMap) {
    strip(headers);
    headers.remove(ACCEPT_ENCODING);
    headers.remove(HOST);
}

/// Takes out what belongs to a connection rather than to what travels over it.
fn strip(headers: &mut HeaderMap) {
    if !headers.keys().any(|name| OF_CONNECTION.contains(name)) {
        return;
    }
    let named = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok());
    let known = headers.keys().filter(|name| OF_CONNECTION.contains(name)).cloned();
    let gone: Vec<HeaderName> = named.chain(known).collect();
    for name in gone {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::{strip_answer, strip_request};
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
    fn what_the_connection_names_stays_behind_with_it() {
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
        assert_eq!(left(strip_answer, &given), ["authorization", "mcp-session-id"]);
    }

    #[test]
    fn a_length_is_made_anew_and_all_else_stays() {
        let given = [("content-length", "3"), ("content-type", "application/json"), ("vary", "a")];
        assert_eq!(left(strip_answer, &given), ["content-type", "vary"]);
    }

    #[test]
    fn a_server_is_asked_by_its_own_name_and_for_plain_text() {
        let given = [
            ("host", "gateway"),
            ("accept-encoding", "br"),
            ("accept", "*/*"),
            ("content-length", "3"),
        ];
        assert_eq!(left(strip_request, &given), ["accept", "content-length"]);
    }
}
