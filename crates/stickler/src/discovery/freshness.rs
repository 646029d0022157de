//! How long what was learnt may be relied on.

use std::time::Duration;

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

    /// Whether it may have changed.
    pub fn is_stale(&self, now: Duration) -> bool {
        self.changed || self.ttl.is_some_and(|ttl| now > self.learnt_at.saturating_add(ttl))
    }
}
