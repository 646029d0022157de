//! Freshness of a tool list.

use std::time::Duration;

use crate::tape::Node;

/// Time at which a tool list was received, and the caching hints of its server. Times are relative to an epoch of
/// the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Freshness {
    /// Time of reception.
    pub learned_at: Duration,
    /// Time to live; unlimited if the server does not state one.
    pub ttl: Option<Duration>,
    /// Whether the list may be shared between clients.
    pub is_public: bool,
    /// Whether the server has reported a change since.
    pub changed: bool,
}

impl Freshness {
    /// A list received now that is fresh until the server reports a change.
    pub fn learned_at(now: Duration) -> Self {
        Self { learned_at: now, ..Self::default() }
    }

    /// A list received now with the caching hints of its result.
    pub fn of_result(result: Node<'_>, now: Duration) -> Self {
        let milliseconds = result.get("ttlMs").and_then(|ttl| ttl.raw().parse::<f64>().ok());
        let ttl = milliseconds.map(|one| Duration::try_from_secs_f64(one / 1000.0));
        let scope = result.get("cacheScope").and_then(Node::as_str);
        Self {
            ttl: ttl.map(Result::unwrap_or_default),
            is_public: scope.as_deref() == Some("public"),
            ..Self::learned_at(now)
        }
    }

    /// Whether the list may be outdated.
    pub fn is_stale(&self, now: Duration) -> bool {
        self.changed || self.ttl.is_some_and(|ttl| now > self.learned_at.saturating_add(ttl))
    }
}
