//! LRU cache of the sessions of a server behind a URL.
//!
//! The server owns the sessions: eviction discards only the state that the gateway observed. A client
//! that continues an evicted session is handled like a client with a session that is older than the gateway.
//! A session with a request or stream in progress is never evicted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::driver::Driver;
use crate::tool_views::lru::Lru;

/// Number of most recently used sessions that keep memory for speed; others are shrunk.
const MAX_UNSHRUNK_SESSIONS: usize = 64;

/// Maximum number of sessions examined to find one to evict.
const EVICTION_SCAN_LIMIT: usize = 64;

/// The session id and a hash of the credentials that the client uses with it.
pub(crate) type Key = (Arc<str>, u64);

/// A value that the cache can shrink and evict.
pub(crate) trait Evictable {
    fn priority(&self) -> EvictionPriority;
    /// Releases memory that an idle session does not need.
    fn shrink(&self);
}

/// Eviction order of a session: lower values are evicted first, `InUse` never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EvictionPriority {
    /// No pending request.
    Idle,
    /// A response is pending, but no client is connected to receive it.
    AwaitingResponse,
    /// A request or a stream is in progress.
    InUse,
}

/// The cached sessions of one server.
pub(crate) struct SessionCache<V = Arc<Driver>> {
    capacity: usize,
    /// Maximum time that a session may be unused.
    idle: Duration,
    table: Mutex<Lru<Key, CachedSession<V>>>,
}

struct CachedSession<V> {
    value: V,
    used: Instant,
    is_shrunk: bool,
}

impl<V: Evictable + Clone> SessionCache<V> {
    pub(crate) fn new(capacity: usize, idle: Duration) -> Self {
        Self { capacity: capacity.max(1), idle, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Lru<Key, CachedSession<V>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session and marks it as used.
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let mut table = self.table();
        let session = table.get(key)?;
        session.used = Instant::now();
        session.is_shrunk = false;
        Some(session.value.clone())
    }

    pub(crate) fn insert(&self, key: Key, value: V) {
        let now = Instant::now();
        let mut table = self.table();
        table.insert(key, CachedSession { value, used: now, is_shrunk: false });
        let evicted = self.evict(&mut table, now);
        shrink_idle(&mut table);
        drop(table);
        // Drop the sessions outside the lock: dropping one is slower than removing it.
        drop(evicted);
    }

    pub(crate) fn remove(&self, key: &Key) {
        let evicted = self.table().remove(key);
        drop(evicted);
    }

    /// Returns whether a session is cached, without marking it as used.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.table().get(key).is_some()
    }

    /// Removes expired sessions and returns whether none is left.
    pub(crate) fn is_empty(&self) -> bool {
        let mut table = self.table();
        let evicted = self.evict(&mut table, Instant::now());
        let is_empty = table.len() == 0;
        drop(table);
        drop(evicted);
        is_empty
    }

    /// Removes sessions that were idle for too long or exceed the capacity.
    fn evict(&self, table: &mut Lru<Key, CachedSession<V>>, now: Instant) -> Vec<CachedSession<V>> {
        let mut evicted = Vec::new();
        let is_expired =
            |one: &CachedSession<V>| now.saturating_duration_since(one.used) >= self.idle;
        loop {
            let is_full = table.len() > self.capacity;
            if !is_full && !table.lru_first().next().is_some_and(|(_, one)| is_expired(one)) {
                return evicted;
            }
            let oldest = table.lru_first().take(EVICTION_SCAN_LIMIT);
            let candidates =
                oldest.map(|(key, one)| (key.clone(), one.value.priority(), is_expired(one)));
            let candidates: Vec<(Key, EvictionPriority, bool)> = candidates.collect();
            // A session in use counts as used now.
            for (key, ..) in
                candidates.iter().filter(|(_, priority, _)| *priority == EvictionPriority::InUse)
            {
                if let Some(session) = table.get(key) {
                    session.used = now;
                    session.is_shrunk = false;
                }
            }
            let is_evictable = |(_, priority, is_expired): &&(Key, EvictionPriority, bool)| {
                *priority < EvictionPriority::InUse && (is_full || *is_expired)
            };
            let Some((key, ..)) =
                candidates.iter().filter(is_evictable).min_by_key(|(_, priority, _)| *priority)
            else {
                // All are in use; their number is bounded by the open connections.
                return evicted;
            };
            evicted.extend(table.remove(key));
        }
    }
}

/// Shrinks sessions beyond the most recently used, up to the first that is already shrunk.
fn shrink_idle<V: Evictable>(table: &mut Lru<Key, CachedSession<V>>) {
    let idle =
        table.lru_first().rev().skip(MAX_UNSHRUNK_SESSIONS).take_while(|(_, one)| !one.is_shrunk);
    let idle: Vec<Key> = idle.map(|(key, _)| key.clone()).collect();
    for key in idle {
        if let Some(session) = table.peek(&key) {
            session.value.shrink();
            session.is_shrunk = true;
        }
    }
}

impl Evictable for Arc<Driver> {
    fn priority(&self) -> EvictionPriority {
        // Requests and streams in progress hold a reference.
        if Arc::strong_count(self) > 1 {
            EvictionPriority::InUse
        } else if self.pending_requests() > 0 {
            EvictionPriority::AwaitingResponse
        } else {
            EvictionPriority::Idle
        }
    }

    fn shrink(&self) {
        Driver::shrink(self, self.priority() == EvictionPriority::InUse);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// The priority of a session, and how often it was shrunk.
    #[derive(Clone)]
    struct TestSession(Rc<Cell<(EvictionPriority, u32)>>);

    impl TestSession {
        fn new(priority: EvictionPriority) -> Self {
            Self(Rc::new(Cell::new((priority, 0))))
        }
    }

    impl Evictable for TestSession {
        fn priority(&self) -> EvictionPriority {
            self.0.get().0
        }

        fn shrink(&self) {
            let (priority, shrinks) = self.0.get();
            self.0.set((priority, shrinks + 1));
        }
    }

    fn key(name: impl Into<String>) -> Key {
        (name.into().into(), 0)
    }

    fn names(sessions: &SessionCache<TestSession>) -> String {
        sessions.table().lru_first().map(|((name, _), _)| &**name).collect()
    }

    #[test]
    fn least_recently_used_session_is_evicted() {
        let sessions = SessionCache::new(3, LONG);
        for name in ["a", "b", "c"] {
            sessions.insert(key(name), TestSession::new(EvictionPriority::Idle));
        }
        assert!(sessions.get(&key("a")).is_some());
        sessions.insert(key("d"), TestSession::new(EvictionPriority::Idle));
        assert_eq!(names(&sessions), "cad");
        assert!(sessions.get(&key("b")).is_none());
        sessions.insert(key("c"), TestSession::new(EvictionPriority::Idle));
        assert_eq!(names(&sessions), "adc", "replacing a session does not evict another");
        sessions.remove(&key("d"));
        assert_eq!(names(&sessions), "ac");
    }

    #[test]
    fn session_in_use_is_never_evicted_and_pending_response_last() {
        let sessions = SessionCache::new(2, LONG);
        let used = TestSession::new(EvictionPriority::InUse);
        sessions.insert(key("u"), used.clone());
        sessions.insert(key("w"), TestSession::new(EvictionPriority::AwaitingResponse));
        sessions.insert(key("a"), TestSession::new(EvictionPriority::Idle));
        assert_eq!(names(&sessions), "wu", "idle session is evicted before a pending response");
        sessions.insert(key("x"), TestSession::new(EvictionPriority::InUse));
        assert_eq!(names(&sessions), "ux", "pending response is evicted before a session in use");
        sessions.insert(key("y"), TestSession::new(EvictionPriority::InUse));
        assert_eq!(sessions.table().len(), 3, "sessions in use exceed the capacity");
        used.0.set((EvictionPriority::Idle, 0));
        sessions.insert(key("z"), TestSession::new(EvictionPriority::InUse));
        assert_eq!(sessions.table().len(), 3);
        assert!(sessions.get(&key("u")).is_none());
    }

    #[test]
    fn expired_session_is_evicted_unless_in_use() {
        let sessions = SessionCache::new(100, Duration::ZERO);
        sessions.insert(key("u"), TestSession::new(EvictionPriority::InUse));
        sessions.insert(key("w"), TestSession::new(EvictionPriority::AwaitingResponse));
        sessions.insert(key("a"), TestSession::new(EvictionPriority::Idle));
        assert_eq!(names(&sessions), "u");
    }

    #[test]
    fn unused_session_is_shrunk_once() {
        let sessions = SessionCache::new(1000, LONG);
        let cached: Vec<TestSession> = (0..MAX_UNSHRUNK_SESSIONS * 3)
            .map(|_| TestSession::new(EvictionPriority::Idle))
            .collect();
        for (name, session) in cached.iter().enumerate() {
            sessions.insert(key(name.to_string()), session.clone());
        }
        let shrinks: Vec<u32> = cached.iter().map(|session| session.0.get().1).collect();
        assert_eq!(
            shrinks,
            [vec![1; MAX_UNSHRUNK_SESSIONS * 2], vec![0; MAX_UNSHRUNK_SESSIONS]].concat()
        );
        sessions.get(&key("0"));
        sessions.insert(key("new"), TestSession::new(EvictionPriority::Idle));
        assert_eq!(cached[0].0.get().1, 1, "session was used again");
        assert_eq!(cached[MAX_UNSHRUNK_SESSIONS * 2 + 1].0.get().1, 1);
        for name in 0..MAX_UNSHRUNK_SESSIONS {
            sessions.insert(key(format!("next {name}")), TestSession::new(EvictionPriority::Idle));
        }
        assert_eq!(cached[0].0.get().1, 2, "session was unused again");
    }
}
