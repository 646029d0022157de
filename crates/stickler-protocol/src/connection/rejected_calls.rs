//! Rejected calls: how often an identical call was rejected, and the turn numbers of rejections.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of distinct calls to count.
const MAX_CALLS: usize = 1024;

/// Number of distinct calls above which an idle connection discards the counts.
const MAX_CALLS_WHEN_IDLE: usize = 64;

/// Number of rejections of each call, by server, tool and arguments.
#[derive(Debug, Default)]
pub struct RejectionCounts {
    counts: BTreeMap<u64, u32>,
}

/// The rejected calls of a connection. The counts of identical calls may be shared with other connections.
#[derive(Debug, Default)]
pub(crate) struct RejectedCalls {
    counts: Arc<Mutex<RejectionCounts>>,
    /// Number of rejected calls for which the caller sent no turn number.
    turns: u64,
}

impl RejectionCounts {
    /// Counts a rejection and returns the count, starting at 1.
    pub fn count(&mut self, tool: &str, arguments: &str) -> u32 {
        self.count_call(call("", tool, arguments))
    }

    fn count_call(&mut self, call: u64) -> u32 {
        if self.counts.len() >= MAX_CALLS {
            // A caller with this many distinct mistakes is not in a loop.
            self.counts.clear();
        }
        let count = self.counts.entry(call).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

impl RejectedCalls {
    pub(crate) fn share(&mut self, counts: Arc<Mutex<RejectionCounts>>) {
        self.counts = counts;
    }

    fn counts(&self) -> MutexGuard<'_, RejectionCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a rejection of a call to a server and returns how often this call was rejected.
    pub(crate) fn count(&self, server: &str, tool: &str, arguments: &str) -> u32 {
        self.counts().count_call(call(server, tool, arguments))
    }

    /// Returns the turn number of a rejected call for which the caller sent none.
    pub(crate) fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Discards the counts if there are many.
    pub(crate) fn shrink(&mut self) {
        let mut counts = self.counts();
        if counts.counts.len() > MAX_CALLS_WHEN_IDLE {
            counts.counts.clear();
        }
    }
}

fn call(server: &str, tool: &str, arguments: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (server, tool, arguments).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{MAX_CALLS, RejectedCalls, RejectionCounts};
    use std::sync::{Arc, Mutex};

    #[test]
    fn calls_are_counted_by_tool_and_arguments() {
        let mut counts = RejectionCounts::default();
        assert_eq!(counts.count("a", "{}"), 1);
        assert_eq!(counts.count("a", "{}"), 2);
        assert_eq!(counts.count("b", "{}"), 1);
        assert_eq!(counts.count("a", "{ }"), 1);
        assert_eq!(counts.count("a", "{}"), 3);
    }

    #[test]
    fn connections_share_counts_by_server() {
        let all = Arc::new(Mutex::new(RejectionCounts::default()));
        let (mut one, mut other) = (RejectedCalls::default(), RejectedCalls::default());
        one.share(Arc::clone(&all));
        other.share(all);
        assert_eq!(one.count("s", "a", "{}"), 1);
        assert_eq!(other.count("s", "a", "{}"), 2);
        assert_eq!(one.count("t", "a", "{}"), 1, "another server's tool is another tool");
        assert_eq!((one.next_turn(), one.next_turn(), other.next_turn()), (1, 2, 1));
    }

    #[test]
    fn memory_is_bounded() {
        let mut counts = RejectionCounts::default();
        for number in 0..MAX_CALLS * 3 {
            counts.count("a", &number.to_string());
        }
        assert!(counts.counts.len() <= MAX_CALLS);
    }
}
