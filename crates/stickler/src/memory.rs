//! Accounting of memory that peers make a process keep: messages that wait, and lists that were learned.
//!
//! Contract: whatever is kept is reserved first and released when the [`Reservation`] is dropped. [`MemoryBudget::reserve`]
//! fails at the limit, so that the caller can answer with an error; [`MemoryBudget::charge`] always succeeds, for what
//! cannot be rejected, and the caller evicts while [`MemoryBudget::is_exceeded`]. A share has a limit of its own and counts
//! towards its parent as well. One budget for a process bounds the sum of all its connections, however it is distributed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit for bytes that are kept, and their number. Cheap to clone; clones share it.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: usize,
    used: AtomicUsize,
    parent: Option<MemoryBudget>,
}

/// Bytes that count towards a budget until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
}

impl MemoryBudget {
    /// Creates a budget of that many bytes.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Inner { limit, used: AtomicUsize::new(0), parent: None }))
    }

    /// Creates a share with a lower limit, whose bytes count towards this budget too.
    #[must_use]
    pub fn share(&self, limit: usize) -> Self {
        let parent = Some(self.clone());
        Self(Arc::new(Inner { limit, used: AtomicUsize::new(0), parent }))
    }

    /// Returns the limit in bytes.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Returns the number of bytes that are reserved or charged.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns whether more than the limit is used, here or in a parent.
    pub fn is_exceeded(&self) -> bool {
        self.used() > self.0.limit || self.0.parent.as_ref().is_some_and(Self::is_exceeded)
    }

    /// Reserves bytes; `None` if that would exceed a limit.
    pub fn reserve(&self, bytes: usize) -> Option<Reservation> {
        self.try_add(bytes).then(|| Reservation { budget: self.clone(), bytes })
    }

    /// Counts bytes even if that exceeds a limit.
    pub fn charge(&self, bytes: usize) -> Reservation {
        self.add(bytes);
        Reservation { budget: self.clone(), bytes }
    }

    fn try_add(&self, bytes: usize) -> bool {
        let within = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.0.limit);
        if self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_err() {
            return false;
        }
        let fits = self.0.parent.as_ref().is_none_or(|parent| parent.try_add(bytes));
        if !fits {
            self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn add(&self, bytes: usize) {
        self.0.used.fetch_add(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.0.parent {
            parent.add(bytes);
        }
    }

    fn subtract(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.0.parent {
            parent.subtract(bytes);
        }
    }
}

/// A budget without a limit.
impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Reservation {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves further bytes; returns false, and changes nothing, if that would exceed a limit.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let has_grown = self.budget.try_add(bytes);
        if has_grown {
            self.bytes += bytes;
        }
        has_grown
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryBudget;

    #[test]
    fn reservations_are_bounded_and_released() {
        let budget = MemoryBudget::new(10);
        let mut one = budget.reserve(6).unwrap();
        assert!(budget.reserve(5).is_none() && budget.used() == 6);
        assert!(one.grow(4) && !one.grow(1));
        drop(one);
        assert_eq!(budget.used(), 0);
        assert!(budget.reserve(usize::MAX).is_none(), "the sum does not overflow");
    }

    #[test]
    fn share_counts_towards_its_parent() {
        let budget = MemoryBudget::new(10);
        let share = budget.share(6);
        assert!(share.reserve(7).is_none());
        let kept = share.reserve(6);
        assert_eq!((budget.used(), share.used()), (6, 6));
        assert!(budget.reserve(5).is_none());
        drop(kept);
        let other = budget.reserve(8);
        assert!(share.reserve(3).is_none(), "the parent has no room");
        assert_eq!((budget.used(), share.used()), (8, 0));
        let forced = share.charge(3);
        assert!(share.is_exceeded() && budget.is_exceeded());
        drop((other, forced));
        assert!(!share.is_exceeded() && budget.used() == 0);
    }
}
