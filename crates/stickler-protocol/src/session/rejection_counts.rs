//! Counts rejections of identical calls.

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

/// Counts shared between connections, with the call that this connection counted last.
#[derive(Debug, Default)]
pub(crate) struct SharedRejectionCounts {
    shared: Arc<Mutex<RejectionCounts>>,
    last: Option<u64>,
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

    fn rollback(&mut self, call: u64) {
        if let Some(count) = self.counts.get_mut(&call) {
            *count = count.saturating_sub(1);
        }
    }
}

impl SharedRejectionCounts {
    pub(crate) fn new(shared: Arc<Mutex<RejectionCounts>>) -> Self {
        Self { shared, last: None }
    }

    fn shared(&self) -> MutexGuard<'_, RejectionCounts> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a rejection of a call to a server.
    pub(crate) fn count(&mut self, server: &str, tool: &str, arguments: &str) -> u32 {
        let call = call(server, tool, arguments);
        self.last = Some(call);
        self.shared().count_call(call)
    }

    /// Reverts the last count, because the call will be checked again.
    pub(crate) fn rollback(&mut self) {
        if let Some(last) = self.last.take() {
            self.shared().rollback(last);
        }
    }

    /// Discards the counts if there are many.
    pub(crate) fn shrink(&mut self) {
        let mut shared = self.shared();
        if shared.counts.len() > MAX_CALLS_WHEN_IDLE {
            shared.counts.clear();
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
    use super::{MAX_CALLS, RejectionCounts, SharedRejectionCounts};
    use std::sync::{Arc, Mutex};

    #[test]
    fn calls_are_counted_by_tool_and_arguments() {
        let mut rejection_counts = RejectionCounts::default();
        assert_eq!(rejection_counts.count("a", "{}"), 1);
        assert_eq!(rejection_counts.count("a", "{}"), 2);
        assert_eq!(rejection_counts.count("b", "{}"), 1);
        assert_eq!(rejection_counts.count("a", "{ }"), 1);
        assert_eq!(rejection_counts.count("a", "{}"), 3);
    }

    #[test]
    fn connections_with_shared_counts_roll_back_only_their_own() {
        let all = Arc::new(Mutex::new(RejectionCounts::default()));
        let mut one = SharedRejectionCounts::new(Arc::clone(&all));
        let mut other = SharedRejectionCounts::new(all);
        assert_eq!(one.count("s", "a", "{}"), 1);
        assert_eq!(other.count("s", "a", "{}"), 2);
        assert_eq!(other.count("s", "b", "{}"), 1);
        one.rollback();
        one.rollback();
        assert_eq!(other.count("s", "a", "{}"), 2);
        assert_eq!(other.count("s", "b", "{}"), 2);
        assert_eq!(one.count("t", "a", "{}"), 1, "another server's tool is another tool");
    }

    #[test]
    fn memory_is_bounded() {
        let mut rejection_counts = RejectionCounts::default();
        for number in 0..MAX_CALLS * 3 {
            rejection_counts.count("a", &number.to_string());
        }
        assert!(rejection_counts.counts.len() <= MAX_CALLS);
    }
}
