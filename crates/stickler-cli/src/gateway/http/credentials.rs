//! Who somebody is to a server, as far as his headers tell: what is learnt with one authorization is not for
//! another.

use std::hash::BuildHasher;

use hyper::HeaderMap;
use hyper::header::HeaderName;

/// What the names of headers have in them that say who somebody is: `Authorization`, `X-API-Key`,
/// `Private-Token`, `Cookie`.
const TELLING: [&str; 5] = ["auth", "key", "token", "secret", "cookie"];

/// Names that look like it, and are different with every request.
const OTHERS: [&str; 2] = ["idempotency-key", "sec-websocket-key"];

/// The same number for the same credentials; 0 where there are none.
pub(super) fn context(headers: &HeaderMap, hasher: &impl BuildHasher) -> u64 {
    let telling = headers.iter().filter(|(name, _)| tells(name));
    // Their order says nothing.
    telling.fold(0, |all, (name, value)| all ^ hasher.hash_one((name.as_str(), value.as_bytes())))
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
            context(&given.iter().map(header).collect::<HeaderMap>(), &hasher)
        };
        assert_eq!(
            context(&[("accept", "x"), ("mcp-param-key", "1"), ("idempotency-key", "2")]),
            0
        );
        let alice = context(&[("x-api-key", "alice"), ("cookie", "a=b")]);
        assert_eq!(alice, context(&[("cookie", "a=b"), ("accept", "x"), ("x-api-key", "alice")]));
        for other in [
            &[("x-api-key", "bob"), ("cookie", "a=b")][..],
            &[("x-api-key", "alice")],
            &[("authorization", "alice")],
            &[],
        ] {
            assert_ne!(alice, context(other));
        }
    }
}
