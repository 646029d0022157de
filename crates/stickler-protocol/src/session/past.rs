//! Requests that have been answered, or were given up.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};

use crate::envelope::RequestId;

/// How many finished requests are remembered, to tell a second answer from one to nothing.
pub(super) const REMEMBERED: usize = 1024;

/// How a finished request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    Cancelled,
    GivenUp,
}

/// The last finished requests. Only hashes are kept: at worst a note is not written.
#[derive(Debug, Default)]
pub(super) struct Past {
    hasher: RandomState,
    endings: HashMap<u64, Ending, BuildHasherDefault<AsItIs>>,
    order: VecDeque<u64>,
}

impl Past {
    pub(super) fn ending(&self, id: &RequestId) -> Option<Ending> {
        self.endings.get(&self.hasher.hash_one(id)).copied()
    }

    pub(super) fn has_token(&self, token: &RequestId) -> bool {
        self.endings.contains_key(&self.hash_of_token(token))
    }

    pub(super) fn remember(&mut self, id: &RequestId, ending: Ending) {
        self.keep(self.hasher.hash_one(id), ending);
    }

    pub(super) fn remember_token(&mut self, token: &RequestId, ending: Ending) {
        self.keep(self.hash_of_token(token), ending);
    }

    pub(super) fn forget_all_but(&mut self, newest: usize) {
        let surplus = self.order.len().saturating_sub(newest);
        for hash in self.order.drain(..surplus) {
            self.endings.remove(&hash);
        }
        self.order.shrink_to_fit();
        self.endings.shrink_to_fit();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    fn keep(&mut self, hash: u64, ending: Ending) {
        if self.endings.insert(hash, ending).is_some() {
            return;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.endings.remove(&oldest);
        }
    }

    /// A token is no id, though it may look like one.
    fn hash_of_token(&self, token: &RequestId) -> u64 {
        self.hasher.hash_one(("token", token))
    }
}

/// What is hashed already need not be hashed again.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Only for completeness: keys are whole numbers.
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
    use super::{Ending, Past, REMEMBERED};
    use crate::envelope::RequestId;

    fn id(number: usize) -> RequestId {
        RequestId::Integer(i64::try_from(number).unwrap())
    }

    #[test]
    fn memory_of_the_past_is_bounded() {
        let mut past = Past::default();
        for number in 0..REMEMBERED * 3 {
            past.remember(&id(number), Ending::Answered);
        }
        assert_eq!((past.endings.len(), past.order.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(past.ending(&id(0)), None);
        assert_eq!(past.ending(&id(REMEMBERED * 3 - 1)), Some(Ending::Answered));
        past.forget_all_but(4);
        assert_eq!((past.endings.len(), past.order.len()), (4, 4));
        assert!(past.endings.capacity() < 16);
        assert_eq!(past.ending(&id(REMEMBERED * 3 - 1)), Some(Ending::Answered));
    }

    #[test]
    fn a_token_is_no_id() {
        let mut past = Past::default();
        past.remember(&id(1), Ending::Answered);
        past.remember_token(&id(2), Ending::Cancelled);
        assert!(!past.has_token(&id(1)) && past.has_token(&id(2)));
        assert_eq!((past.ending(&id(1)), past.ending(&id(2))), (Some(Ending::Answered), None));
    }
}
