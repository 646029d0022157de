//! The same bad call, again and again.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Different refused calls that are remembered.
const REMEMBERED: usize = 1024;

/// Those of them that outlast a rest.
const RESTING: usize = 64;

/// How often each call was refused, by tool and arguments.
#[derive(Debug, Default)]
pub struct Repeats {
    counts: BTreeMap<u64, u32>,
}

/// The same for those that are counted together, and which of them was counted last here.
#[derive(Debug, Default)]
pub(crate) struct SharedRepeats {
    all: Arc<Mutex<Repeats>>,
    last: Option<u64>,
}

impl Repeats {
    /// Counts a refusal: the first time gives 1.
    pub fn count(&mut self, tool: &str, arguments: &str) -> u32 {
        self.count_call(call("", tool, arguments))
    }

    fn count_call(&mut self, call: u64) -> u32 {
        if self.counts.len() >= REMEMBERED {
            // Whoever makes that many different mistakes is not going in circles.
            self.counts.clear();
        }
        let count = self.counts.entry(call).or_default();
        *count = count.saturating_add(1);
        *count
    }

    fn take_back(&mut self, call: u64) {
        if let Some(count) = self.counts.get_mut(&call) {
            *count = count.saturating_sub(1);
        }
    }
}

impl SharedRepeats {
    pub(crate) fn new(all: Arc<Mutex<Repeats>>) -> Self {
        Self { all, last: None }
    }

    fn all(&self) -> MutexGuard<'_, Repeats> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal of a call to a server.
    pub(crate) fn count(&mut self, server: &str, tool: &str, arguments: &str) -> u32 {
        let call = call(server, tool, arguments);
        self.last = Some(call);
        self.all().count_call(call)
    }

    /// The last refusal did not happen: the call will be judged again.
    pub(crate) fn take_back(&mut self) {
        if let Some(last) = self.last.take() {
            self.all().take_back(last);
        }
    }

    /// Keeps a little, in little memory.
    pub(crate) fn rest(&mut self) {
        let mut all = self.all();
        if all.counts.len() > RESTING {
            all.counts.clear();
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
    use super::{REMEMBERED, Repeats, SharedRepeats};
    use std::sync::{Arc, Mutex};

    #[test]
    fn calls_are_counted_by_tool_and_arguments() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.count("a", "{}"), 1);
        assert_eq!(repeats.count("a", "{}"), 2);
        assert_eq!(repeats.count("b", "{}"), 1);
        assert_eq!(repeats.count("a", "{ }"), 1);
        assert_eq!(repeats.count("a", "{}"), 3);
    }

    #[test]
    fn those_that_are_counted_together_take_back_their_own() {
        let all = Arc::new(Mutex::new(Repeats::default()));
        let mut one = SharedRepeats::new(Arc::clone(&all));
        let mut other = SharedRepeats::new(all);
        assert_eq!(one.count("s", "a", "{}"), 1);
        assert_eq!(other.count("s", "a", "{}"), 2);
        assert_eq!(other.count("s", "b", "{}"), 1);
        one.take_back();
        one.take_back();
        assert_eq!(other.count("s", "a", "{}"), 2);
        assert_eq!(other.count("s", "b", "{}"), 2);
        assert_eq!(one.count("t", "a", "{}"), 1, "another server's tool is another tool");
    }

    #[test]
    fn memory_is_bounded() {
        let mut repeats = Repeats::default();
        for number in 0..REMEMBERED * 3 {
            repeats.count("a", &number.to_string());
        }
        assert!(repeats.counts.len() <= REMEMBERED);
    }
}
