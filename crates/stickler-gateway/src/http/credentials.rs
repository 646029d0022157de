//! Who somebody is to a server, as far as his headers tell: what is learnt with one authorization is not for
//! another.

use std::hash::BuildHasher;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// What the names of headers have in them that say who somebody is: `Authorization`, `X-API-Key`,
/// `Private-Token`. Cookies do not: those that balance load come and change within a session.
const TELLING: [&str; 4] = ["auth", "key", "token", "secret"];

/// Names that look like it, and are different with every request.
const OTHERS: [&str; 2] = ["idempotency-key", "sec-websocket-key"];

/// The same number for the same credentials; 0 where there are none.
pub(super) fn context(headers: &HeaderMap, hasher: &impl BuildHasher) -> u64 {
    let telling = headers.iter().filter(|(name, _)| tells(name));
    let number = |(name, value): (&HeaderName, &HeaderValue)| {
        hasher.hash_one((name.as_str(), value.as_bytes()))
    };
    // Their order says nothing, and one that is given twice does not cancel itself.
    telling.map(number).fold(0, u64::wrapping_add)
}

fn tells(name: &HeaderName) -> bool {
    let name = name.as_str();
    TELLING.iter().any(|part| name.contains(part))
        && !name.starts_with("mcp-")
        && !OTHERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::context;
    use hyper::HeaderMap;
    use hyper::header::{HeaderName, HeaderValue};
    use std::collections::hash_map::RandomState;

    #[test]
    fn who_somebody_is_is_in_several_headers() {
        let hasher = RandomState::new();
        let context = |given: &[(&'static str, &'static str)]| {
            let header = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            };
            let mut headers = HeaderMap::new();
            for (name, value) in given.iter().map(header) {
                headers.append(name, value);
            }
            context(&headers, &hasher)
        };
        assert_eq!(
            context(&[("accept", "x"), ("mcp-param-key", "1"), ("idempotency-key", "2")]),
            0
        );
        let alice = context(&[("x-api-key", "alice"), ("private-token", "b")]);
        let same = [("private-token", "b"), ("cookie", "x=y"), ("x-api-key", "alice")];
        assert_eq!(alice, context(&same));
        for other in [
            &[("x-api-key", "bob"), ("private-token", "b")][..],
            &[("x-api-key", "alice")],
            &[("x-api-key", "alice"), ("x-api-key", "alice")],
            &[("authorization", "alice")],
            &[],
        ] {
            assert_ne!(alice, context(other));
        }
    }
}
