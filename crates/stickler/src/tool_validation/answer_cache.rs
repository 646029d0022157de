//! Cache of answers of a validation tool, by the text of the validated call.
//!
//! An answer is valid until it expires or until something changes that it may depend on (`invalidateOn` in the
//! capability); the user then clears the cache. Memory is bounded by the number and the size of the entries.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 256;

/// Maximum size of the text and of the answer of an entry.
pub(super) const MAX_ENTRY_BYTES: usize = 64 << 10;

/// Answers by the text of the call. The oldest entry is removed when the cache is full.
#[derive(Debug)]
pub struct AnswerCache<T> {
    entries: BTreeMap<Box<str>, Entry<T>>,
    order: VecDeque<Box<str>>,
}

#[derive(Debug)]
struct Entry<T> {
    answer: T,
    expires_at: Duration,
}

impl<T> AnswerCache<T> {
    /// Maximum number of entries.
    pub const MAX_ENTRIES: usize = MAX_ENTRIES;

    /// Returns the answer to a call if it has not expired.
    pub fn get(&self, call: &str, now: Duration) -> Option<&T> {
        let entry = self.entries.get(call).filter(|entry| now < entry.expires_at)?;
        Some(&entry.answer)
    }

    /// Whether the text of a call or answer is small enough to be cached.
    pub fn accepts(text: &str) -> bool {
        text.len() <= MAX_ENTRY_BYTES
    }

    /// Caches an answer, unless the call is too large.
    pub fn insert(&mut self, call: &str, answer: T, expires_at: Duration) {
        if !Self::accepts(call) {
            return;
        }
        if self.entries.insert(call.into(), Entry { answer, expires_at }).is_some() {
            return;
        }
        self.order.push_back(call.into());
        if self.order.len() > MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// Removes all entries, because any of them may be outdated.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<T> Default for AnswerCache<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), order: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerCache, MAX_ENTRIES, MAX_ENTRY_BYTES};
    use std::time::Duration;

    #[test]
    fn answers_expire() {
        let mut cache = AnswerCache::default();
        cache.insert("q", "{}", Duration::from_secs(5));
        assert_eq!(cache.get("q", Duration::from_secs(4)), Some(&"{}"));
        assert_eq!(cache.get("q", Duration::from_secs(5)), None);
        cache.insert("q", "[]", Duration::from_secs(9));
        assert_eq!(cache.get("q", Duration::from_secs(5)), Some(&"[]"));
        cache.clear();
        assert_eq!(cache.get("q", Duration::ZERO), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = AnswerCache::default();
        for number in 0..MAX_ENTRIES * 3 {
            cache.insert(&number.to_string(), "{}", Duration::MAX);
        }
        cache.insert(&"x".repeat(MAX_ENTRY_BYTES + 1), "{}", Duration::MAX);
        assert_eq!((cache.entries.len(), cache.order.len()), (MAX_ENTRIES, MAX_ENTRIES));
        assert!(cache.get("0", Duration::ZERO).is_none());
    }
}
