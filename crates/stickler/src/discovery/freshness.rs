//! How long what was learnt may be relied on.

use std::time::Duration;

use crate::tape::Node;

/// When a tool list was learnt, and what its server said about keeping it. Times count from
/// whatever moment the caller counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Freshness {
    /// When it was learnt.
    pub learnt_at: Duration,
    /// How long it may be kept; for ever where the server does not say.
    pub ttl: Option<Duration>,
    /// It may be shown to others than those it was given to.
    pub is_public: bool,
    /// The server has said since that it changed.
    pub changed: bool,
}

impl Freshness {
    /// Learnt now, to be kept until the server says that it changed.
    pub fn learnt_at(now: Duration) -> Self {
        Self { learnt_at: now, ..Self::default() }
    }

    /// Learnt now, to be kept as long as the result itself says.
    pub fn of_result(result: Node<'_>, now: Duration) -> Self {
        let milliseconds = result.get("ttlMs").and_then(|ttl| ttl.raw().parse::<f64>().ok());
        let ttl = milliseconds.map(|one| Duration::try_from_secs_f64(one / 1000.0));
        let scope = result.get("cacheScope").and_then(Node::as_str);
        Self {
            ttl: ttl.map(Result::unwrap_or_default),
            is_public: scope.as_deref() == Some("public"),
            ..Self::learnt_at(now)
        }
    }

    /// Whether it may have changed.
    pub fn is_stale(&self, now: Duration) -> bool {
        self.changed || self.ttl.is_some_and(|ttl| now > self.learnt_at.saturating_add(ttl))
    }
}
