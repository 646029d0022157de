//! Requests that wait for their answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Capabilities;
use super::past::{Ending, Past};
use crate::envelope::RequestId;
use crate::protocol::Revision;

/// Those of them that outlast a rest.
const RESTING: usize = 16;

/// A request that has gone on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flight {
    /// The id as its sender wrote it.
    pub(crate) id: Box<str>,
    pub(crate) method: Box<str>,
    /// The revision that it was read by.
    pub(crate) revision: Option<Revision>,
    /// The tool that it calls.
    pub(crate) tool: Option<Box<str>>,
    /// It asked to be carried out as a task.
    pub(crate) wants_task: bool,
    /// The page of a list that it asked for.
    pub(crate) cursor: Option<Box<str>>,
    /// It asked for a page other than the first, by a cursor that may be too long to keep.
    pub(crate) has_cursor: bool,
    pub(crate) progress_token: Option<RequestId>,
    /// What its sender can do, where each request says so.
    pub(crate) capabilities: Option<Capabilities>,
    pub(crate) since: Duration,
    /// How often the tools that it asks for had changed by then.
    pub(crate) list_changes: u64,
}

/// What became of a response.
#[derive(Debug)]
pub(crate) enum Landing {
    /// It is the answer to this.
    Answered(Box<Flight>),
    /// Its request was cancelled.
    Cancelled,
    /// Its request was answered already.
    Repeated,
    /// Its request was given up, and an error has taken the place of the answer.
    GivenUp,
    /// Nobody asked.
    Unasked,
}

/// The requests of one side.
#[derive(Debug)]
pub(crate) struct Flights {
    limit: usize,
    departed: u64,
    /// In order: few are in flight at once, and no ids make a tree slow.
    open: BTreeMap<RequestId, Box<Flight>>,
    /// Ids of requests that are still to be judged.
    reserved: BTreeSet<RequestId>,
    tokens: BTreeMap<RequestId, RequestId>,
    past: Past,
}

impl Flights {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            departed: 0,
            open: BTreeMap::new(),
            reserved: BTreeSet::new(),
            tokens: BTreeMap::new(),
            past: Past::default(),
        }
    }

    pub(crate) fn is_open(&self, id: &RequestId) -> bool {
        self.open.contains_key(id) || self.reserved.contains(id)
    }

    pub(crate) fn reserve(&mut self, ids: Vec<RequestId>) {
        self.reserved.extend(ids);
    }

    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        self.reserved.contains(id)
    }

    pub(crate) fn end_reservations(&mut self) {
        self.reserved.clear();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.open.len() >= self.limit
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether a finished request had that id.
    pub(crate) fn was_used(&self, id: &RequestId) -> bool {
        self.past.ending(id).is_some()
    }

    pub(crate) fn method_of(&self, id: &RequestId) -> Option<&str> {
        self.open.get(id).map(|flight| &*flight.method)
    }

    pub(crate) fn depart(&mut self, id: RequestId, flight: Flight) {
        if let Some(token) = &flight.progress_token {
            self.tokens.insert(token.clone(), id.clone());
        }
        self.departed = self.departed.wrapping_add(1);
        self.open.insert(id, Box::new(flight));
    }

    /// How many have departed so far.
    pub(crate) fn departed(&self) -> u64 {
        self.departed
    }

    /// It has not departed after all.
    pub(crate) fn take_back(&mut self, id: &RequestId) {
        let flight = self.open.remove(id);
        if let Some(token) = flight.and_then(|flight| flight.progress_token)
            && self.tokens.get(&token) == Some(id)
        {
            self.tokens.remove(&token);
        }
    }

    /// A response has come.
    pub(crate) fn land(&mut self, id: &RequestId) -> Landing {
        let Some(flight) = self.close(id, Ending::Answered) else {
            return match self.past.ending(id) {
                Some(Ending::Answered) => Landing::Repeated,
                Some(Ending::Cancelled) => Landing::Cancelled,
                Some(Ending::GivenUp) => Landing::GivenUp,
                None => Landing::Unasked,
            };
        };
        Landing::Answered(flight)
    }

    /// Its sender wants no answer any more; false when no such request is in flight.
    pub(crate) fn cancel(&mut self, id: &RequestId) -> bool {
        self.close(id, Ending::Cancelled).is_some()
    }

    /// Somebody else answers in the place of the server.
    pub(crate) fn give_up(&mut self, id: &RequestId) -> Option<Box<Flight>> {
        self.close(id, Ending::GivenUp)
    }

    /// The requests that have waited since before a moment, the oldest first, and since when the
    /// oldest of the others waits. Those that `lasts` names wait for as long as they like.
    pub(crate) fn waiting_since(
        &self,
        moment: Duration,
        lasts: impl Fn(&str) -> bool,
    ) -> (Vec<RequestId>, Option<Duration>) {
        let mut overdue = Vec::new();
        let mut oldest: Option<Duration> = None;
        for (id, flight) in self.open.iter().filter(|(_, flight)| !lasts(&flight.method)) {
            if flight.since <= moment {
                overdue.push((flight.since, id.clone()));
            } else {
                oldest = Some(oldest.map_or(flight.since, |oldest| oldest.min(flight.since)));
            }
        }
        overdue.sort_by(|(a, one), (b, other)| (a, one.to_json()).cmp(&(b, other.to_json())));
        (overdue.into_iter().map(|(_, id)| id).collect(), oldest)
    }

    /// Keeps what is in flight and a little of the past, in little memory.
    pub(crate) fn rest(&mut self) {
        // A tree keeps its root when everything in it has gone.
        if self.open.is_empty() {
            self.open = BTreeMap::new();
        }
        if self.tokens.is_empty() {
            self.tokens = BTreeMap::new();
        }
        self.past.forget_all_but(RESTING);
    }

    /// Whether progress on that token can be expected. What has just ended may still be heard of.
    pub(crate) fn expects_progress(&self, token: &RequestId) -> bool {
        self.tokens.contains_key(token) || self.past.has_token(token)
    }

    /// Everything that is still in flight, the oldest first; afterwards nothing is.
    pub(crate) fn abandon(&mut self) -> Vec<Flight> {
        self.tokens.clear();
        let open = std::mem::take(&mut self.open);
        let mut flights: Vec<Flight> = Vec::with_capacity(open.len());
        for (id, flight) in open {
            self.past.remember(&id, Ending::GivenUp);
            flights.push(*flight);
        }
        flights.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
        flights
    }

    fn close(&mut self, id: &RequestId, ending: Ending) -> Option<Box<Flight>> {
        let flight = self.open.remove(id)?;
        if let Some(token) = &flight.progress_token {
            self.tokens.remove(token);
            self.past.remember_token(token, ending);
        }
        self.past.remember(id, ending);
        Some(flight)
    }
}

#[cfg(test)]
mod tests {
    use super::{Flight, Flights, Landing, RESTING};
    use crate::envelope::RequestId;
    use crate::session::past::REMEMBERED;

    fn id(number: usize) -> RequestId {
        RequestId::Integer(i64::try_from(number).unwrap())
    }

    #[test]
    fn an_answer_lands_once() {
        let mut flights = Flights::new(10);
        flights.depart(id(1), Flight { method: "ping".into(), ..Flight::default() });
        assert!(matches!(flights.land(&id(2)), Landing::Unasked));
        assert!(
            matches!(flights.land(&id(1)), Landing::Answered(flight) if &*flight.method == "ping")
        );
        assert!(matches!(flights.land(&id(1)), Landing::Repeated));
        assert!(flights.was_used(&id(1)) && !flights.was_used(&id(2)));
    }

    #[test]
    fn a_cancelled_request_is_gone_but_remembered() {
        let mut flights = Flights::new(10);
        flights.depart(id(1), Flight::default());
        assert!(flights.cancel(&id(1)));
        assert!(!flights.cancel(&id(1)));
        assert!(matches!(flights.land(&id(1)), Landing::Cancelled));
        assert_eq!(flights.len(), 0);
    }

    #[test]
    fn a_rest_keeps_what_is_in_flight_and_what_ended_last() {
        let mut flights = Flights::new(10);
        flights.depart(id(REMEMBERED), Flight::default());
        for number in 0..REMEMBERED {
            flights.depart(id(number), Flight::default());
            flights.land(&id(number));
        }
        flights.rest();
        assert_eq!(flights.past.len(), RESTING);
        assert!(matches!(flights.land(&id(REMEMBERED - 1)), Landing::Repeated));
        assert!(matches!(flights.land(&id(REMEMBERED)), Landing::Answered(_)));
    }

    #[test]
    fn progress_is_expected_while_the_request_is_in_flight() {
        let mut flights = Flights::new(10);
        let token = RequestId::String("t".into());
        let flight = Flight { progress_token: Some(token.clone()), ..Flight::default() };
        assert!(!flights.expects_progress(&token));
        flights.depart(id(1), flight);
        assert!(flights.expects_progress(&token));
        flights.land(&id(1));
        assert!(flights.tokens.is_empty());
        assert!(flights.expects_progress(&token), "it may have been under way");
    }
}
