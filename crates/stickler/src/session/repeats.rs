//! The same bad call, again and again.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Different refused calls that are remembered.
const REMEMBERED: usize = 1024;

/// Those of them that outlast a rest.
const RESTING: usize = 64;

/// How often each call was refused, by tool and arguments.
#[derive(Debug, Default)]
pub struct Repeats {
    counts: BTreeMap<u64, u32>,
    last: Option<u64>,
}

impl Repeats {
    /// Counts a refusal: the first time gives 1.
    pub fn count(&mut self, tool: &str, arguments: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        (tool, arguments).hash(&mut hasher);
        if self.counts.len() >= REMEMBERED {
            // Whoever makes that many different mistakes is not going in circles.
            self.counts.clear();
        }
        let call = hasher.finish();
        self.last = Some(call);
        let count = self.counts.entry(call).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Keeps a little, in little memory.
    pub(crate) fn rest(&mut self) {
        if self.counts.len() > RESTING {
            self.counts.clear();
        }
    }

    /// The last refusal did not happen: the call will be judged again.
    pub(crate) fn take_back(&mut self) {
        if let Some(count) = self.last.take().and_then(|last| self.counts.get_mut(&last)) {
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{REMEMBERED, Repeats};

    #[test]
    fn calls_are_counted_by_tool_and_arguments() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.count("a", "{}"), 1);
        assert_eq!(repeats.count("a", "{}"), 2);
        assert_eq!(repeats.count("b", "{}"), 1);
        assert_eq!(repeats.count("a", "{ }"), 1);
        assert_eq!(repeats.count("a", "{}"), 3);
        repeats.take_back();
        assert_eq!(repeats.count("a", "{}"), 3);
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
