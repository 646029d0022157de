//! The numbers in use on a pipe that many share, and those whose clients have hung up.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Requests on one pipe that somebody waits for.
const MOST: usize = 10_000;

/// Numbers that nobody waits for any more, and that the server may still speak of.
const REMEMBERED: usize = 10_000;

/// How long a server may still be at work on what was cancelled.
const AFTERWARDS: Duration = Duration::from_secs(10);

/// Whose each number is.
pub(super) struct Dialled<R> {
    open: HashMap<u64, R>,
    /// And until when the server may speak of them without naming them. A server need not answer what is
    /// cancelled, so these are forgotten, the oldest first.
    hung_up: BTreeMap<u64, Instant>,
    /// The server has gone: nothing will come for any number.
    is_over: bool,
}

/// Whom a number leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<R> {
    Open(R),
    HungUp,
    Unknown,
}

impl<R> Default for Dialled<R> {
    fn default() -> Self {
        Self { open: HashMap::new(), hung_up: BTreeMap::new(), is_over: false }
    }
}

impl<R: Clone> Dialled<R> {
    pub(super) fn has_room(&self) -> bool {
        self.open.len() < MOST
    }

    /// False when there is nobody any more who could answer.
    pub(super) fn insert(&mut self, number: u64, route: R) -> bool {
        if !self.is_over {
            self.open.insert(number, route);
        }
        !self.is_over
    }

    /// Nobody waits for this number any more; false if nobody did before. Of what only listened, a server
    /// does not speak without naming it.
    pub(super) fn hang_up(&mut self, number: u64, listens: impl Fn(&R) -> bool) -> bool {
        let Some(route) = self.open.remove(&number) else { return false };
        let now = Instant::now();
        self.hung_up.insert(number, if listens(&route) { now } else { now + AFTERWARDS });
        if self.hung_up.len() > REMEMBERED {
            self.hung_up.pop_first();
        }
        true
    }

    /// Whom a message is for; the last message about a number ends it.
    pub(super) fn find(&mut self, number: u64, is_last: bool) -> Found<R> {
        let (route, is_hung_up) = if is_last {
            (self.open.remove(&number), self.hung_up.remove(&number).is_some())
        } else {
            (self.open.get(&number).cloned(), self.hung_up.contains_key(&number))
        };
        match route {
            Some(route) => Found::Open(route),
            None if is_hung_up => Found::HungUp,
            None => Found::Unknown,
        }
    }

    /// The only one of those that count that the server can be speaking of at that moment.
    pub(super) fn only(&self, now: Instant, counts: impl Fn(&R) -> bool) -> Option<(u64, R)> {
        let mut all = self.open.iter().filter(|(_, route)| counts(route));
        let is_alone = self.hung_up.values().all(|until| *until <= now);
        let only = all.next().filter(|_| is_alone);
        only.filter(|_| all.next().is_none()).map(|(number, route)| (*number, route.clone()))
    }

    /// All who wait, because the server has gone. Nobody waits from now on.
    pub(super) fn take_all(&mut self) -> Vec<R> {
        self.is_over = true;
        self.open.drain().map(|(_, route)| route).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTERWARDS, Dialled, Found, MOST, REMEMBERED};
    use std::time::Instant;

    #[test]
    fn requests_that_were_hung_up_on_take_no_room() {
        let mut dialled = Dialled::default();
        for number in 0..(MOST + REMEMBERED) as u64 {
            assert!(dialled.has_room(), "no room for {number}");
            assert!(dialled.insert(number, "somebody"));
            assert!(dialled.hang_up(number, |_| false));
            assert!(!dialled.hang_up(number, |_| false), "once is enough");
        }
        assert_eq!(dialled.hung_up.len(), REMEMBERED, "and what is remembered has an end");
    }

    #[test]
    fn a_late_answer_is_known_for_what_it_is() {
        let mut dialled = Dialled::default();
        dialled.insert(0, "listened");
        dialled.insert(1, "gone");
        dialled.insert(2, "there");
        dialled.hang_up(0, |route| *route == "listened");
        let now = Instant::now();
        assert_eq!(dialled.only(now, |route| *route == "there"), Some((2, "there")));
        dialled.hang_up(1, |_| false);
        assert_eq!(
            dialled.only(now, |_| true),
            None,
            "what names nobody could be about the one who has gone"
        );
        let later = Instant::now() + AFTERWARDS;
        assert_eq!(dialled.only(later, |_| true), Some((2, "there")), "but not for ever");
        assert_eq!(dialled.find(1, false), Found::HungUp);
        assert_eq!(dialled.find(1, true), Found::HungUp);
        assert_eq!(dialled.find(1, true), Found::Unknown);
        assert_eq!(dialled.only(now, |_| true), Some((2, "there")));
        dialled.insert(3, "our own");
        assert_eq!(dialled.only(now, |route| *route != "our own"), Some((2, "there")));
        assert_eq!(dialled.only(now, |_| true), None, "it could be about either");
        assert_eq!(dialled.find(2, false), Found::Open("there"));
        assert_eq!(dialled.find(2, true), Found::Open("there"));
        assert_eq!(dialled.find(2, true), Found::Unknown);
    }

    #[test]
    fn nobody_waits_for_a_server_that_has_gone() {
        let mut dialled = Dialled::default();
        assert!(dialled.insert(1, "in time"));
        assert_eq!(dialled.take_all(), ["in time"]);
        assert!(!dialled.insert(2, "too late"));
        assert_eq!(dialled.find(2, true), Found::Unknown);
    }
}
