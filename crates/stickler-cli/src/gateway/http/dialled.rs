//! The numbers in use on a pipe that many share, and those whose clients have hung up.

use std::collections::{BTreeSet, HashMap};

/// Requests on one pipe that somebody waits for.
const MOST: usize = 10_000;

/// Numbers that nobody waits for any more, and that the server may still speak of.
const REMEMBERED: usize = 10_000;

/// Whose each number is.
pub(super) struct Dialled<R> {
    open: HashMap<u64, R>,
    /// A server need not answer what is cancelled, so these are forgotten, the oldest first.
    hung_up: BTreeSet<u64>,
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
        Self { open: HashMap::new(), hung_up: BTreeSet::new(), is_over: false }
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

    /// Nobody waits for this number any more; false if nobody did before.
    pub(super) fn hang_up(&mut self, number: u64) -> bool {
        let was_open = self.open.remove(&number).is_some();
        if was_open {
            self.hung_up.insert(number);
            if self.hung_up.len() > REMEMBERED {
                self.hung_up.pop_first();
            }
        }
        was_open
    }

    /// Whom a message is for; the last message about a number ends it.
    pub(super) fn find(&mut self, number: u64, is_last: bool) -> Found<R> {
        let (route, is_hung_up) = if is_last {
            (self.open.remove(&number), self.hung_up.remove(&number))
        } else {
            (self.open.get(&number).cloned(), self.hung_up.contains(&number))
        };
        match route {
            Some(route) => Found::Open(route),
            None if is_hung_up => Found::HungUp,
            None => Found::Unknown,
        }
    }

    /// The only one of those that count that the server can be speaking of.
    pub(super) fn only(&self, counts: impl Fn(&R) -> bool) -> Option<(u64, R)> {
        let mut all = self.open.iter().filter(|(_, route)| counts(route));
        let only = all.next().filter(|_| self.hung_up.is_empty());
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
    use super::{Dialled, Found, MOST, REMEMBERED};

    #[test]
    fn requests_that_were_hung_up_on_take_no_room() {
        let mut dialled = Dialled::default();
        for number in 0..(MOST + REMEMBERED) as u64 {
            assert!(dialled.has_room(), "no room for {number}");
            assert!(dialled.insert(number, "somebody"));
            assert!(dialled.hang_up(number));
            assert!(!dialled.hang_up(number), "once is enough");
        }
        assert_eq!(dialled.hung_up.len(), REMEMBERED, "and what is remembered has an end");
    }

    #[test]
    fn a_late_answer_is_known_for_what_it_is() {
        let mut dialled = Dialled::default();
        dialled.insert(1, "gone");
        dialled.insert(2, "there");
        dialled.hang_up(1);
        assert_eq!(
            dialled.only(|_| true),
            None,
            "what names nobody could be about the one who has gone"
        );
        assert_eq!(dialled.find(1, false), Found::HungUp);
        assert_eq!(dialled.find(1, true), Found::HungUp);
        assert_eq!(dialled.find(1, true), Found::Unknown);
        assert_eq!(dialled.only(|_| true), Some((2, "there")));
        dialled.insert(3, "our own");
        assert_eq!(dialled.only(|route| *route != "our own"), Some((2, "there")));
        assert_eq!(dialled.only(|_| true), None, "it could be about either");
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
