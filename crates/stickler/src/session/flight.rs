//! Requests that wait for their answer.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::Capabilities;
use crate::envelope::RequestId;
use crate::protocol::Revision;

/// How many finished requests are remembered, to tell a second answer from one to nothing.
const REMEMBERED: usize = 1024;

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
    open: HashMap<RequestId, Box<Flight>>,
    tokens: HashMap<RequestId, RequestId>,
    past: Past,
}

/// How a finished request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Answered,
    Cancelled,
    GivenUp,
}

impl Flights {
    pub(super) fn new(limit: usize) -> Self {
        let past = Past { endings: HashMap::new(), order: VecDeque::new() };
        Self { limit, open: HashMap::new(), tokens: HashMap::new(), past }
    }

    pub(crate) fn is_open(&self, id: &RequestId) -> bool {
        self.open.contains_key(id)
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
        self.open.insert(id, Box::new(flight));
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
        self.open.shrink_to_fit();
        self.tokens.shrink_to_fit();
        self.past.forget_all_but(RESTING);
    }

    /// Whether progress on that token can be expected. What has just ended may still be heard of.
    pub(crate) fn expects_progress(&self, token: &RequestId) -> bool {
        self.tokens.contains_key(token) || self.past.endings.contains_key(&token_hash(token))
    }

    /// Everything that is still in flight, the oldest first; afterwards nothing is.
    pub(crate) fn abandon(&mut self) -> Vec<Flight> {
        self.tokens.clear();
        let open = std::mem::take(&mut self.open);
        let mut flights: Vec<Flight> = Vec::with_capacity(open.len());
        for (id, flight) in open {
            self.past.remember(hash(&id), Ending::GivenUp);
            flights.push(*flight);
        }
        flights.sort_by(|a, b| (a.since, &a.id).cmp(&(b.since, &b.id)));
        flights
    }

    fn close(&mut self, id: &RequestId, ending: Ending) -> Option<Box<Flight>> {
        let flight = self.open.remove(id)?;
        if let Some(token) = &flight.progress_token {
            self.tokens.remove(token);
            self.past.remember(token_hash(token), ending);
        }
        self.past.remember(hash(id), ending);
        Some(flight)
    }
}

/// The last finished requests. Only hashes are kept: at worst a note is not written.
#[derive(Debug)]
struct Past {
    endings: HashMap<u64, Ending>,
    order: VecDeque<u64>,
}

impl Past {
    fn ending(&self, id: &RequestId) -> Option<Ending> {
        self.endings.get(&hash(id)).copied()
    }

    fn forget_all_but(&mut self, newest: usize) {
        let surplus = self.order.len().saturating_sub(newest);
        for hash in self.order.drain(..surplus) {
            self.endings.remove(&hash);
        }
        self.order.shrink_to_fit();
        self.endings.shrink_to_fit();
    }

    fn remember(&mut self, hash: u64, ending: Ending) {
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
}

fn hash(id: &RequestId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

fn token_hash(token: &RequestId) -> u64 {
    hash(token).rotate_left(32) ^ u64::MAX
}

#[cfg(test)]
mod tests {
    use super::{Flight, Flights, Landing, REMEMBERED, RESTING};
    use crate::envelope::RequestId;

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
    fn memory_of_the_past_is_bounded() {
        let mut flights = Flights::new(10);
        for number in 0..REMEMBERED * 3 {
            flights.depart(id(number), Flight::default());
            flights.land(&id(number));
        }
        assert_eq!(flights.past.endings.len(), REMEMBERED);
        assert_eq!(flights.past.order.len(), REMEMBERED);
        assert!(!flights.was_used(&id(0)) && flights.was_used(&id(REMEMBERED * 3 - 1)));
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
        assert_eq!((flights.past.endings.len(), flights.past.order.len()), (RESTING, RESTING));
        assert!(flights.past.endings.capacity() < RESTING * 4);
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
