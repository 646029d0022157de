//! Bounded history of completed requests, used to classify late and duplicate responses.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};

use crate::envelope::RequestId;

/// Number of completed requests to remember.
pub(super) const MAX_COMPLETED: usize = 1024;

/// How a request was completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    Cancelled,
    Abandoned,
}

/// The most recently completed requests. Only hashes are stored: a collision costs at most a note.
#[derive(Debug, Default)]
pub(super) struct RecentlyCompleted {
    hasher: RandomState,
    outcomes: HashMap<u64, Outcome, BuildHasherDefault<IdentityHasher>>,
    order: VecDeque<u64>,
}

impl RecentlyCompleted {
    pub(super) fn outcome(&self, id: &RequestId) -> Option<Outcome> {
        self.outcomes.get(&self.hasher.hash_one(id)).copied()
    }

    pub(super) fn has_token(&self, token: &RequestId) -> bool {
        self.outcomes.contains_key(&self.hash_of_token(token))
    }

    pub(super) fn remember(&mut self, id: &RequestId, outcome: Outcome) {
        self.keep(self.hasher.hash_one(id), outcome);
    }

    pub(super) fn remember_token(&mut self, token: &RequestId, outcome: Outcome) {
        self.keep(self.hash_of_token(token), outcome);
    }

    pub(super) fn retain_newest(&mut self, newest: usize) {
        let surplus = self.order.len().saturating_sub(newest);
        for hash in self.order.drain(..surplus) {
            self.outcomes.remove(&hash);
        }
        self.order.shrink_to_fit();
        self.outcomes.shrink_to_fit();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    fn keep(&mut self, hash: u64, outcome: Outcome) {
        if self.outcomes.insert(hash, outcome).is_some() {
            return;
        }
        self.order.push_back(hash);
        if self.order.len() > MAX_COMPLETED
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
        }
    }

    /// Hashes tokens separately, because a token may equal an id.
    fn hash_of_token(&self, token: &RequestId) -> u64 {
        self.hasher.hash_one(("token", token))
    }
}

/// Hasher for keys that are hashes already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Required by the trait; keys only use `write_u64`.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_COMPLETED, Outcome, RecentlyCompleted};
    use crate::envelope::RequestId;

    fn id(number: usize) -> RequestId {
        RequestId::Integer(i64::try_from(number).unwrap())
    }

    #[test]
    fn history_is_bounded() {
        let mut completed = RecentlyCompleted::default();
        for number in 0..MAX_COMPLETED * 3 {
            completed.remember(&id(number), Outcome::Answered);
        }
        assert_eq!(
            (completed.outcomes.len(), completed.order.len()),
            (MAX_COMPLETED, MAX_COMPLETED)
        );
        assert_eq!(completed.outcome(&id(0)), None);
        assert_eq!(completed.outcome(&id(MAX_COMPLETED * 3 - 1)), Some(Outcome::Answered));
        completed.retain_newest(4);
        assert_eq!((completed.outcomes.len(), completed.order.len()), (4, 4));
        assert!(completed.outcomes.capacity() < 16);
        assert_eq!(completed.outcome(&id(MAX_COMPLETED * 3 - 1)), Some(Outcome::Answered));
    }

    #[test]
    fn token_is_distinct_from_an_equal_id() {
        let mut completed = RecentlyCompleted::default();
        completed.remember(&id(1), Outcome::Answered);
        completed.remember_token(&id(2), Outcome::Cancelled);
        assert!(!completed.has_token(&id(1)) && completed.has_token(&id(2)));
        assert_eq!(
            (completed.outcome(&id(1)), completed.outcome(&id(2))),
            (Some(Outcome::Answered), None)
        );
    }
}
