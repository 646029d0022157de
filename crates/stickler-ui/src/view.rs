//! Views: the rows of a session or of all sessions that match a filter, in the order of time.
//!
//! A view is kept and extended as rows arrive, so that a page that follows a session costs what is new. With folding,
//! the retries of a call are in the row of the first attempt.

use std::collections::{HashMap, HashSet};

use crate::filter::Filter;
use crate::index::row::{Outcome, Row};
use crate::index::session::Session;
use crate::library::Sessions;
use crate::text_search::TextSearch;

/// What a view shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// Number of the session; `None` for all.
    pub(crate) scope: Option<usize>,
    pub(crate) filter: Filter,
    pub(crate) folds: bool,
}

/// A row of a view: session and row.
pub(crate) type Entry = (u32, u32);

/// The rows that match a query.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) query: Query,
    pub(crate) entries: Vec<Entry>,
    pub(crate) search: TextSearch,
    /// Number of rows considered, by session.
    considered: HashMap<usize, u32>,
    /// Rows that did not match, but may when their response arrives.
    undecided: Vec<Entry>,
    /// First attempts in `entries`, if they are folded.
    heads: HashSet<Entry>,
    /// Number of sessions that were gone.
    gone: usize,
}

impl View {
    pub(crate) fn new(query: Query) -> Self {
        let search = TextSearch::new(&query.filter.texts);
        Self {
            query,
            entries: Vec::new(),
            search,
            considered: HashMap::new(),
            undecided: Vec::new(),
            heads: HashSet::new(),
            gone: 0,
        }
    }

    /// Adds the rows that are new.
    pub(crate) fn update(&mut self, sessions: &Sessions) {
        let gone = sessions.all.iter().filter(|session| session.is_gone).count();
        if gone != self.gone {
            let search = std::mem::take(&mut self.search);
            *self = Self { search, gone, ..Self::new(self.query.clone()) };
        }
        let known = self.entries.len();
        for (session, row) in std::mem::take(&mut self.undecided) {
            self.consider(sessions, (session, row));
        }
        for (number, session) in sessions.all.iter().enumerate() {
            if session.is_gone || self.query.scope.is_some_and(|scope| scope != number) {
                continue;
            }
            let from = self.considered.insert(number, session.rows.len()).unwrap_or(0);
            let Ok(number) = u32::try_from(number) else { continue };
            (from..session.rows.len()).for_each(|row| self.consider(sessions, (number, row)));
        }
        self.sort(sessions, known);
    }

    fn consider(&mut self, sessions: &Sessions, entry: Entry) {
        let Some((session, row)) = find(sessions, entry) else { return };
        let is_match = self.query.filter.matches(session, row) && self.search.matches(entry.0, row);
        if !is_match {
            if row.outcome == Outcome::Pending {
                self.undecided.push(entry);
            }
            return;
        }
        if !self.query.folds {
            self.entries.push(entry);
            return;
        }
        let head = (entry.0, row.thread);
        let may_have_retries =
            row.thread != entry.1 || row.outcome.invites_retry() || row.outcome == Outcome::Pending;
        if !may_have_retries || self.heads.insert(head) {
            self.entries.push(head);
        }
    }

    /// Restores the order of time. Rows usually arrive in order.
    fn sort(&mut self, sessions: &Sessions, known: usize) {
        let time = |entry: &Entry| {
            find(sessions, *entry).map_or(0.0, |(session, row)| absolute(session, row))
        };
        let from = known.saturating_sub(1);
        let is_sorted = self.entries.get(from..).is_none_or(|new| new.is_sorted_by_key(time));
        if !is_sorted {
            self.entries
                .sort_by(|one, other| time(one).total_cmp(&time(other)).then(one.cmp(other)));
        }
    }
}

/// Returns a row with its session.
pub(crate) fn find(sessions: &Sessions, (session, row): Entry) -> Option<(&Session, &Row)> {
    let session = sessions.all.get(usize::try_from(session).ok()?)?;
    Some((session, session.rows.get(row)?))
}

/// Returns the time of a row in seconds since 1970.
pub(crate) fn absolute(session: &Session, row: &Row) -> f64 {
    session.started.unwrap_or(0.0) + f64::from(row.milliseconds) / 1000.0
}
