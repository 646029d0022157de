//! Hashes the credentials in request headers.
//!
//! The hash separates connections and cached data by credentials: what was opened or learned with one
//! authorization is never used for another.

use std::hash::BuildHasher;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// Substrings of header names that carry credentials, such as `Authorization`, `X-API-Key` or
/// `Private-Token`. Cookies are excluded: load balancers set and change them within a session.
const CREDENTIAL_NAME_PARTS: [&str; 4] = ["auth", "key", "token", "secret"];

/// Header names that match but differ in every request.
const EXCLUDED_NAMES: [&str; 2] = ["idempotency-key", "sec-websocket-key"];

/// Returns the same key for the same credentials, and 0 if there are none.
pub fn identity_key(headers: &HeaderMap, hasher: &impl BuildHasher) -> u64 {
    let credentials = headers.iter().filter(|(name, _)| is_credential(name));
    let hash = |(name, value): (&HeaderName, &HeaderValue)| {
        hasher.hash_one((name.as_str(), value.as_bytes()))
    };
    // The sum is independent of header order, and a repeated header does not cancel out.
    credentials.map(hash).fold(0, u64::wrapping_add)
}

fn is_credential(name: &HeaderName) -> bool {
    let name = name.as_str();
    CREDENTIAL_NAME_PARTS.iter().any(|part| name.contains(part))
        && !name.starts_with("mcp-")
        && !EXCLUDED_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::identity_key;
    use hyper::HeaderMap;
    use hyper::header::{HeaderName, HeaderValue};
    use std::collections::hash_map::RandomState;

    #[test]
    fn identity_key_covers_all_credential_headers() {
        let hasher = RandomState::new();
        let identity = |given: &[(&'static str, &'static str)]| {
            let header = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            };
            let mut headers = HeaderMap::new();
            for (name, value) in given.iter().map(header) {
                headers.append(name, value);
            }
            identity_key(&headers, &hasher)
        };
        assert_eq!(
            identity(&[("accept", "x"), ("mcp-param-key", "1"), ("idempotency-key", "2")]),
            0
        );
        let alice = identity(&[("x-api-key", "alice"), ("private-token", "b")]);
        let same = [("private-token", "b"), ("cookie", "x=y"), ("x-api-key", "alice")];
        assert_eq!(alice, identity(&same));
        for other in [
            &[("x-api-key", "bob"), ("private-token", "b")][..],
            &[("x-api-key", "alice")],
            &[("x-api-key", "alice"), ("x-api-key", "alice")],
            &[("authorization", "alice")],
            &[],
        ] {
            assert_ne!(alice, identity(other));
        }
    }
}
