//! Maps the request ids on a shared process's pipe to the clients that wait for them.
//!
//! Ids of cancelled requests are remembered for a while, because the server may still send messages for
//! them. Their number is bounded; the oldest are evicted first.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Maximum number of active requests on one pipe.
const MAX_ACTIVE_IDS: usize = 10_000;

/// Maximum number of cancelled ids that are remembered.
const MAX_CANCELLED_IDS: usize = 10_000;

/// How long a server may continue to process a cancelled request.
const CANCELLED_GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Routes by request id.
pub(crate) struct IdMap<R> {
    active: HashMap<u64, R>,
    /// Cancelled ids, with the time until which a message without an id may refer to them. A server
    /// need not respond to a cancelled request, so the oldest entries are evicted.
    cancelled: BTreeMap<u64, Instant>,
    /// The server is gone: no further message arrives.
    is_closed: bool,
}

/// The result of a lookup.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup<R> {
    Active(R),
    Cancelled,
    Unknown,
}

impl<R> Default for IdMap<R> {
    fn default() -> Self {
        Self { active: HashMap::new(), cancelled: BTreeMap::new(), is_closed: false }
    }
}

impl<R: Clone> IdMap<R> {
    pub(crate) fn has_room(&self) -> bool {
        self.active.len() < MAX_ACTIVE_IDS
    }

    /// Adds a route. Returns false if the server is gone.
    pub(crate) fn insert(&mut self, id: u64, route: R) -> bool {
        if !self.is_closed {
            self.active.insert(id, route);
        }
        !self.is_closed
    }

    /// Cancels a request; returns false if it was not active. A server never refers to a cancelled
    /// subscription without its id, so subscriptions get no grace period.
    pub(crate) fn cancel(&mut self, id: u64, is_subscription: impl Fn(&R) -> bool) -> bool {
        let Some(route) = self.active.remove(&id) else { return false };
        let now = Instant::now();
        self.cancelled
            .insert(id, if is_subscription(&route) { now } else { now + CANCELLED_GRACE_PERIOD });
        if self.cancelled.len() > MAX_CANCELLED_IDS {
            self.cancelled.pop_first();
        }
        true
    }

    /// Returns the route of a message; the last message for an id removes it.
    pub(crate) fn lookup(&mut self, id: u64, is_last: bool) -> Lookup<R> {
        let (route, is_cancelled) = if is_last {
            (self.active.remove(&id), self.cancelled.remove(&id).is_some())
        } else {
            (self.active.get(&id).cloned(), self.cancelled.contains_key(&id))
        };
        match route {
            Some(route) => Lookup::Active(route),
            None if is_cancelled => Lookup::Cancelled,
            None => Lookup::Unknown,
        }
    }

    /// Returns the only candidate that a message without an id can refer to at that time.
    pub(crate) fn sole_active(
        &self,
        now: Instant,
        is_candidate: impl Fn(&R) -> bool,
    ) -> Option<(u64, R)> {
        let mut all = self.active.iter().filter(|(_, route)| is_candidate(route));
        let is_alone = self.cancelled.values().all(|until| *until <= now);
        let only = all.next().filter(|_| is_alone);
        only.filter(|_| all.next().is_none()).map(|(id, route)| (*id, route.clone()))
    }

    /// Returns the active routes.
    pub(crate) fn all(&self) -> Vec<R> {
        self.active.values().cloned().collect()
    }

    /// Returns whether an active route satisfies a condition.
    pub(crate) fn has_any(&self, is_it: impl Fn(&R) -> bool) -> bool {
        self.active.values().any(is_it)
    }

    /// Closes the map because the server is gone and returns all active routes.
    pub(crate) fn close(&mut self) -> Vec<R> {
        self.is_closed = true;
        self.active.drain().map(|(_, route)| route).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{CANCELLED_GRACE_PERIOD, IdMap, Lookup, MAX_ACTIVE_IDS, MAX_CANCELLED_IDS};
    use std::time::Instant;

    #[test]
    fn cancelled_requests_do_not_count_as_active() {
        let mut id_map = IdMap::default();
        for id in 0..(MAX_ACTIVE_IDS + MAX_CANCELLED_IDS) as u64 {
            assert!(id_map.has_room(), "no room for {id}");
            assert!(id_map.insert(id, "client"));
            assert!(id_map.cancel(id, |_| false));
            assert!(!id_map.cancel(id, |_| false), "cancelled twice");
        }
        assert_eq!(id_map.cancelled.len(), MAX_CANCELLED_IDS, "cancelled ids are bounded");
    }

    #[test]
    fn late_response_to_a_cancelled_request_is_recognized() {
        let mut id_map = IdMap::default();
        id_map.insert(0, "subscription");
        id_map.insert(1, "cancelled");
        id_map.insert(2, "active");
        id_map.cancel(0, |route| *route == "subscription");
        let now = Instant::now();
        assert_eq!(id_map.sole_active(now, |route| *route == "active"), Some((2, "active")));
        id_map.cancel(1, |_| false);
        assert_eq!(
            id_map.sole_active(now, |_| true),
            None,
            "a message without an id could refer to the cancelled request"
        );
        let later = Instant::now() + CANCELLED_GRACE_PERIOD;
        assert_eq!(
            id_map.sole_active(later, |_| true),
            Some((2, "active")),
            "grace period is over"
        );
        assert_eq!(id_map.lookup(1, false), Lookup::Cancelled);
        assert_eq!(id_map.lookup(1, true), Lookup::Cancelled);
        assert_eq!(id_map.lookup(1, true), Lookup::Unknown);
        assert_eq!(id_map.sole_active(now, |_| true), Some((2, "active")));
        id_map.insert(3, "gateway");
        assert_eq!(id_map.sole_active(now, |route| *route != "gateway"), Some((2, "active")));
        assert_eq!(id_map.sole_active(now, |_| true), None, "two candidates");
        assert_eq!(id_map.lookup(2, false), Lookup::Active("active"));
        assert_eq!(id_map.lookup(2, true), Lookup::Active("active"));
        assert_eq!(id_map.lookup(2, true), Lookup::Unknown);
    }

    #[test]
    fn closed_map_rejects_new_requests() {
        let mut id_map = IdMap::default();
        assert!(id_map.insert(1, "in time"));
        assert_eq!(id_map.close(), ["in time"]);
        assert!(!id_map.insert(2, "too late"));
        assert_eq!(id_map.lookup(2, true), Lookup::Unknown);
    }
}
