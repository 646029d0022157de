//! Cache of validation results, keyed by the raw arguments of the validation call.
//!
//! Clients often validate the same call repeatedly. An entry is valid until it expires or until
//! something changes that it may depend on; see `invalidateOn` in the capability.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::envelope::RequestId;

/// Maximum number of entries, and of pending results.
const MAX_ENTRIES: usize = 256;
/// Maximum size of the arguments and of the result of an entry.
const MAX_ENTRY_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct ValidationCache {
    /// Results by raw arguments.
    entries: BTreeMap<Box<str>, Entry>,
    order: VecDeque<Box<str>>,
    /// Raw arguments of calls that the server has not answered yet.
    pending: BTreeMap<RequestId, Box<str>>,
}

#[derive(Debug)]
struct Entry {
    result: Box<str>,
    expires_at: Duration,
}

impl ValidationCache {
    /// Returns the cached result if it has not expired.
    pub(super) fn get(&self, arguments: &str, now: Duration) -> Option<&str> {
        let entry = self.entries.get(arguments).filter(|entry| now < entry.expires_at)?;
        Some(&entry.result)
    }

    pub(super) fn insert(&mut self, arguments: &str, result: &str, expires_at: Duration) {
        if arguments.len() > MAX_ENTRY_BYTES || result.len() > MAX_ENTRY_BYTES {
            return;
        }
        let entry = Entry { result: result.into(), expires_at };
        if self.entries.insert(arguments.into(), entry).is_some() {
            return;
        }
        self.order.push_back(arguments.into());
        if self.order.len() > MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// Remembers the arguments of a forwarded call, to cache its result.
    pub(super) fn expect_result(&mut self, id: &RequestId, arguments: &str) {
        // An earlier call with this id was cancelled or abandoned.
        self.pending.remove(id);
        if self.pending.len() < MAX_ENTRIES && arguments.len() <= MAX_ENTRY_BYTES {
            self.pending.insert(id.clone(), arguments.into());
        }
    }

    /// Removes and returns the arguments of the call that a response answers.
    pub(super) fn take_pending(&mut self, id: &RequestId) -> Option<Box<str>> {
        self.pending.remove(id)
    }

    /// Removes all entries and pending results, because any of them may be outdated.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, MAX_ENTRY_BYTES, ValidationCache};
    use crate::envelope::RequestId;
    use std::time::Duration;
    use stickler::tape::TapeBuffer;

    fn id(text: &str) -> RequestId {
        let mut buffer = TapeBuffer::new();
        RequestId::of(buffer.read(text.as_bytes(), 1).unwrap().root()).unwrap()
    }

    #[test]
    fn results_expire() {
        let mut cache = ValidationCache::default();
        cache.insert("q", "{}", Duration::from_secs(5));
        assert_eq!(cache.get("q", Duration::from_secs(4)), Some("{}"));
        assert_eq!(cache.get("q", Duration::from_secs(5)), None);
        cache.insert("q", "[]", Duration::from_secs(9));
        assert_eq!(cache.get("q", Duration::from_secs(5)), Some("[]"));
        cache.clear();
        assert_eq!(cache.get("q", Duration::ZERO), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = ValidationCache::default();
        let late = Duration::MAX;
        for number in 0..MAX_ENTRIES * 3 {
            cache.insert(&number.to_string(), "{}", late);
        }
        cache.insert(&"x".repeat(MAX_ENTRY_BYTES + 1), "{}", late);
        cache.insert("long", &"x".repeat(MAX_ENTRY_BYTES + 1), late);
        assert_eq!((cache.entries.len(), cache.order.len()), (MAX_ENTRIES, MAX_ENTRIES));
        assert!(cache.get("0", Duration::ZERO).is_none());
    }

    #[test]
    fn new_call_replaces_earlier_call_with_the_same_id() {
        let mut cache = ValidationCache::default();
        cache.expect_result(&id("1"), "old");
        cache.expect_result(&id("1"), &"x".repeat(MAX_ENTRY_BYTES + 1));
        assert_eq!(cache.take_pending(&id("1")), None, "too large to be cached");
        for number in 0..MAX_ENTRIES {
            cache.expect_result(&id(&number.to_string()), "old");
        }
        cache.expect_result(&id("1"), "new");
        assert_eq!(cache.take_pending(&id("1")).as_deref(), Some("new"));
    }
}
