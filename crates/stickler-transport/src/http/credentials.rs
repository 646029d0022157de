//! Hashes the request headers that tell clients apart.
//!
//! Contract: [`credentials_key`] is the same for requests with the same credentials; it separates connections and the
//! owners of sessions. [`IdentityHeaders::key`] is the same only for requests that the server cannot tell apart by
//! anything but headers that differ between the requests of one client anyway; it separates what is learned without a
//! session. Any other header may carry an identity (a tenant, a user that a proxy has authenticated), so it counts as one.

use std::hash::BuildHasher;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// Substrings of header names that carry credentials, such as `Authorization`, `X-API-Key` or
/// `Private-Token`. Cookies are excluded: load balancers set and change them within a session.
const CREDENTIAL_NAME_PARTS: [&str; 4] = ["auth", "key", "token", "secret"];

/// Header names that match but differ in every request.
const EXCLUDED_NAMES: [&str; 2] = ["idempotency-key", "sec-websocket-key"];

/// Headers that belong to one message, connection or trace. Whatever stays the same for all requests of a client may
/// identify it to a server: its address, language, program, or the host name that it uses.
const NEUTRAL_NAMES: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "b3",
    "cache-control",
    "cdn-loop",
    "cf-ray",
    "cf-request-id",
    "connection",
    "correlation-id",
    "date",
    "expect",
    "fly-request-id",
    "host",
    "idempotency-key",
    "keep-alive",
    "last-event-id",
    "max-forwards",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "newrelic",
    "pragma",
    "priority",
    "range",
    "request-id",
    "sentry-trace",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "uber-trace-id",
    "upgrade",
    "via",
    "x-amz-cf-id",
    "x-amzn-requestid",
    "x-amzn-trace-id",
    "x-azure-ref",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-envoy-attempt-count",
    "x-envoy-expected-rq-timeout-ms",
    "x-queue-start",
    "x-request-id",
    "x-request-start",
    "x-vercel-id",
];

/// Prefixes of such headers. `Mcp-Param-*` repeats the body.
const NEUTRAL_PREFIXES: [&str; 5] = ["content-", "if-", "mcp-param-", "x-b3-", "x-datadog-"];

/// Which headers can identify a client.
#[derive(Debug, Clone, Default)]
pub struct IdentityHeaders {
    /// Further names of neutral headers, in lower case.
    neutral: Vec<String>,
}

impl IdentityHeaders {
    /// Creates the default rule with further neutral headers.
    pub fn with_neutral(names: impl IntoIterator<Item = String>) -> Self {
        Self { neutral: names.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Returns the same key for requests of the same identity, and 0 if there is none.
    pub fn key(&self, headers: &HeaderMap, hasher: &impl BuildHasher) -> u64 {
        hash(headers, hasher, |name| !self.is_neutral(name.as_str()))
    }

    fn is_neutral(&self, name: &str) -> bool {
        NEUTRAL_NAMES.binary_search(&name).is_ok()
            || NEUTRAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || self.neutral.iter().any(|neutral| neutral == name)
    }
}

/// Returns the same key for the same credentials, and 0 if there are none.
pub fn credentials_key(headers: &HeaderMap, hasher: &impl BuildHasher) -> u64 {
    hash(headers, hasher, is_credential)
}

/// The sum is independent of header order, and a repeated header does not cancel out.
fn hash(
    headers: &HeaderMap,
    hasher: &impl BuildHasher,
    counts: impl Fn(&HeaderName) -> bool,
) -> u64 {
    let counted = headers.iter().filter(|(name, _)| counts(name));
    let hash = |(name, value): (&HeaderName, &HeaderValue)| {
        hasher.hash_one((name.as_str(), value.as_bytes()))
    };
    counted.map(hash).fold(0, u64::wrapping_add)
}

fn is_credential(name: &HeaderName) -> bool {
    let name = name.as_str();
    CREDENTIAL_NAME_PARTS.iter().any(|part| name.contains(part))
        && !name.starts_with("mcp-")
        && !EXCLUDED_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{IdentityHeaders, NEUTRAL_NAMES, credentials_key};
    use hyper::HeaderMap;
    use hyper::header::{HeaderName, HeaderValue};
    use std::collections::hash_map::RandomState;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn credentials_key_covers_all_credential_headers() {
        let hasher = RandomState::new();
        let key = |given: &[_]| credentials_key(&headers(given), &hasher);
        assert_eq!(key(&[("accept", "x"), ("mcp-param-key", "1"), ("idempotency-key", "2")]), 0);
        let alice = key(&[("x-api-key", "alice"), ("private-token", "b")]);
        let same = [("private-token", "b"), ("cookie", "x=y"), ("x-api-key", "alice")];
        assert_eq!(alice, key(&same));
        for other in [
            &[("x-api-key", "bob"), ("private-token", "b")][..],
            &[("x-api-key", "alice")],
            &[("x-api-key", "alice"), ("x-api-key", "alice")],
            &[("authorization", "alice")],
            &[],
        ] {
            assert_ne!(alice, key(other));
        }
    }

    #[test]
    fn unknown_headers_belong_to_the_identity_and_neutral_ones_do_not() {
        let hasher = RandomState::new();
        let rule = IdentityHeaders::with_neutral(["X-Attempt".to_owned()]);
        let key = |name, value| rule.key(&headers(&[(name, value)]), &hasher);
        for name in [
            "authorization",
            "cookie",
            "x-forwarded-user",
            "x-remote-user",
            "x-tenant",
            "x-goog-iap-jwt-assertion",
            "x-amzn-oidc-data",
            "cf-access-jwt-assertion",
            "x-forwarded-for",
            "forwarded",
            "true-client-ip",
            "x-forwarded-host",
            "baggage",
            "user-agent",
            "mcp-tenant",
            "x-anything",
        ] {
            assert_ne!(key(name, "alice"), key(name, "bob"), "{name}");
        }
        for name in
            ["accept", "content-type", "mcp-session-id", "traceparent", "x-request-id", "x-attempt"]
        {
            assert_eq!(key(name, "1"), 0, "{name}");
        }
    }

    #[test]
    fn neutral_names_are_sorted_for_the_binary_search() {
        assert!(NEUTRAL_NAMES.is_sorted());
    }
}
