//! Cache of validation results, keyed by the raw arguments of the validation call, and the calls whose results will
//! be cached. Clients often validate the same call repeatedly.

use std::collections::BTreeMap;
use std::time::Duration;

use stickler::tool_validation::AnswerCache;

use crate::envelope::RequestId;

type Results = AnswerCache<Box<str>>;

#[derive(Debug, Default)]
pub(super) struct ValidationCache {
    results: Results,
    /// Raw arguments of calls that the server has not answered yet.
    pending: BTreeMap<RequestId, Box<str>>,
}

impl ValidationCache {
    /// Returns the cached result if it has not expired.
    pub(super) fn get(&self, arguments: &str, now: Duration) -> Option<&str> {
        self.results.get(arguments, now).map(|result| &**result)
    }

    pub(super) fn insert(&mut self, arguments: &str, result: &str, expires_at: Duration) {
        if Results::accepts(result) {
            self.results.insert(arguments, result.into(), expires_at);
        }
    }

    /// Remembers the arguments of a forwarded call, to cache its result.
    pub(super) fn expect_result(&mut self, id: &RequestId, arguments: &str) {
        // An earlier call with this id was cancelled or abandoned.
        self.pending.remove(id);
        if self.pending.len() < Results::MAX_ENTRIES && Results::accepts(arguments) {
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
    use super::{Results, ValidationCache};
    use crate::envelope::RequestId;

    fn id(number: i64) -> RequestId {
        RequestId::Integer(number)
    }

    #[test]
    fn new_call_replaces_earlier_call_with_the_same_id() {
        let mut cache = ValidationCache::default();
        cache.expect_result(&id(1), "old");
        cache.expect_result(&id(1), &"x".repeat(1 << 20));
        assert_eq!(cache.take_pending(&id(1)), None, "too large to be cached");
        for number in 0..Results::MAX_ENTRIES {
            cache.expect_result(&id(i64::try_from(number).unwrap()), "old");
        }
        cache.expect_result(&id(1), "new");
        assert_eq!(cache.take_pending(&id(1)).as_deref(), Some("new"));
    }
}
