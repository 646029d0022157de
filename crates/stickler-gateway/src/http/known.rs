//! The sessions of a server behind a URL that are known here, as many as there may be.
//!
//! They belong to the server: what is forgotten is only what was learnt by listening. A session that
//! was forgotten and comes back is joined late, like one that was begun before the gateway was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::conversation::Conversation;
use super::recent::Recent;

/// Sessions beyond these, by their last use, keep nothing that only makes them quicker.
const AWAKE: usize = 64;

/// Sessions that are looked at to find one that can be forgotten.
const LOOKS: usize = 64;

/// The name of a session, and the authorization that it is used with.
pub(super) type Key = (Arc<str>, u64);

/// What is kept of a session.
pub(super) trait Kept {
    fn need(&self) -> Need;
    /// Gives back memory that is not needed to go on.
    fn rest(&self);
}

/// How much somebody needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// It is only remembered.
    None,
    /// An answer is still to come, though nobody waits for it just now.
    Answer,
    /// A request or a stream is under way.
    InUse,
}

/// The sessions of one server.
pub(super) struct KnownSessions<V = Arc<Conversation>> {
    most: usize,
    /// How long a session may be without use.
    idle: Duration,
    table: Mutex<Recent<Key, Known<V>>>,
}

struct Known<V> {
    value: V,
    used: Instant,
    is_resting: bool,
}

impl<V: Kept + Clone> KnownSessions<V> {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        Self { most: most.max(1), idle, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Recent<Key, Known<V>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session with that name, which is used by asking for it.
    pub(super) fn get(&self, key: &Key) -> Option<V> {
        let mut table = self.table();
        let known = table.get(key)?;
        known.used = Instant::now();
        known.is_resting = false;
        Some(known.value.clone())
    }

    pub(super) fn remember(&self, key: Key, value: V) {
        let now = Instant::now();
        let mut table = self.table();
        table.insert(key, Known { value, used: now, is_resting: false });
        let forgotten = self.forget_some(&mut table, now);
        lay_to_rest(&mut table);
        drop(table);
        // Taking a session apart takes longer than taking it out.
        drop(forgotten);
    }

    pub(super) fn forget(&self, key: &Key) {
        let forgotten = self.table().remove(key);
        drop(forgotten);
    }

    /// Forgets what was idle for too long, and what is too much.
    fn forget_some(&self, table: &mut Recent<Key, Known<V>>, now: Instant) -> Vec<Known<V>> {
        let mut forgotten = Vec::new();
        let is_old = |one: &Known<V>| now.saturating_duration_since(one.used) >= self.idle;
        loop {
            let is_over = table.len() > self.most;
            if !is_over && !table.oldest_first().next().is_some_and(|(_, one)| is_old(one)) {
                return forgotten;
            }
            let oldest = table.oldest_first().take(LOOKS);
            let looks = oldest.map(|(key, one)| (key.clone(), one.value.need(), is_old(one)));
            let looks: Vec<(Key, Need, bool)> = looks.collect();
            // What is used for a long time is not unused for that time.
            for (key, ..) in looks.iter().filter(|(_, need, _)| *need == Need::InUse) {
                if let Some(known) = table.get(key) {
                    known.used = now;
                    known.is_resting = false;
                }
            }
            let can_go = |(_, need, is_old): &&(Key, Need, bool)| {
                *need < Need::InUse && (is_over || *is_old)
            };
            let Some((key, ..)) = looks.iter().filter(can_go).min_by_key(|(_, need, _)| *need)
            else {
                // Open connections are bounded elsewhere, and so are those who hold them.
                return forgotten;
            };
            forgotten.extend(table.remove(key));
        }
    }
}

/// Those that were not used lately rest, up to the first that rests already.
fn lay_to_rest<V: Kept>(table: &mut Recent<Key, Known<V>>) {
    let tired = table.oldest_first().rev().skip(AWAKE).take_while(|(_, one)| !one.is_resting);
    let tired: Vec<Key> = tired.map(|(key, _)| key.clone()).collect();
    for key in tired {
        if let Some(known) = table.look_at(&key) {
            known.value.rest();
            known.is_resting = true;
        }
    }
}

impl Kept for Arc<Conversation> {
    fn need(&self) -> Need {
        // Whoever is under way has a share in it, and so have streams.
        if Arc::strong_count(self) > 1 {
            Need::InUse
        } else if self.in_flight() > 0 {
            Need::Answer
        } else {
            Need::None
        }
    }

    fn rest(&self) {
        Conversation::rest(self, self.need() == Need::InUse);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// How much it is needed, and how often it was told to rest.
    #[derive(Clone)]
    struct Thing(Rc<Cell<(Need, u32)>>);

    impl Thing {
        fn new(need: Need) -> Self {
            Self(Rc::new(Cell::new((need, 0))))
        }
    }

    impl Kept for Thing {
        fn need(&self) -> Need {
            self.0.get().0
        }

        fn rest(&self) {
            let (need, rests) = self.0.get();
            self.0.set((need, rests + 1));
        }
    }

    fn key(name: impl Into<String>) -> Key {
        (name.into().into(), 0)
    }

    fn names(sessions: &KnownSessions<Thing>) -> String {
        sessions.table().oldest_first().map(|((name, _), _)| &**name).collect()
    }

    #[test]
    fn the_longest_unused_is_forgotten() {
        let sessions = KnownSessions::new(3, LONG);
        for name in ["a", "b", "c"] {
            sessions.remember(key(name), Thing::new(Need::None));
        }
        assert!(sessions.get(&key("a")).is_some());
        sessions.remember(key("d"), Thing::new(Need::None));
        assert_eq!(names(&sessions), "cad");
        assert!(sessions.get(&key("b")).is_none());
        sessions.remember(key("c"), Thing::new(Need::None));
        assert_eq!(names(&sessions), "adc", "one that is known already is not one more");
        sessions.forget(&key("d"));
        assert_eq!(names(&sessions), "ac");
    }

    #[test]
    fn what_is_in_use_is_never_forgotten_and_what_waits_for_an_answer_last() {
        let sessions = KnownSessions::new(2, LONG);
        let used = Thing::new(Need::InUse);
        sessions.remember(key("u"), used.clone());
        sessions.remember(key("w"), Thing::new(Need::Answer));
        sessions.remember(key("a"), Thing::new(Need::None));
        assert_eq!(names(&sessions), "wu", "not the one that has an answer to come");
        sessions.remember(key("x"), Thing::new(Need::InUse));
        assert_eq!(names(&sessions), "ux", "unless there is no other");
        sessions.remember(key("y"), Thing::new(Need::InUse));
        assert_eq!(sessions.table().len(), 3, "those that are there stay");
        used.0.set((Need::None, 0));
        sessions.remember(key("z"), Thing::new(Need::InUse));
        assert_eq!(sessions.table().len(), 3);
        assert!(sessions.get(&key("u")).is_none());
    }

    #[test]
    fn what_was_idle_for_too_long_is_forgotten_unless_it_is_in_use() {
        let sessions = KnownSessions::new(100, Duration::ZERO);
        sessions.remember(key("u"), Thing::new(Need::InUse));
        sessions.remember(key("w"), Thing::new(Need::Answer));
        sessions.remember(key("a"), Thing::new(Need::None));
        assert_eq!(names(&sessions), "u");
    }

    #[test]
    fn those_that_are_not_used_any_more_rest_once() {
        let sessions = KnownSessions::new(1000, LONG);
        let things: Vec<Thing> = (0..AWAKE * 3).map(|_| Thing::new(Need::None)).collect();
        for (name, thing) in things.iter().enumerate() {
            sessions.remember(key(name.to_string()), thing.clone());
        }
        let rests: Vec<u32> = things.iter().map(|thing| thing.0.get().1).collect();
        assert_eq!(rests, [vec![1; AWAKE * 2], vec![0; AWAKE]].concat());
        sessions.get(&key("0"));
        sessions.remember(key("new"), Thing::new(Need::None));
        assert_eq!(things[0].0.get().1, 1, "it was used again");
        assert_eq!(things[AWAKE * 2 + 1].0.get().1, 1);
        for name in 0..AWAKE {
            sessions.remember(key(format!("next {name}")), Thing::new(Need::None));
        }
        assert_eq!(things[0].0.get().1, 2, "and then no more");
    }
}
