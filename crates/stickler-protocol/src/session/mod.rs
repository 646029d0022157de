//! What is known of one pair of peers: revision, capabilities, requests in flight.
//!
//! A state machine without I/O: messages are reported to it in the order in which they pass, and it
//! says what is odd about their order. What a message must look like is the business of
//! [`protocol`](crate::protocol), what happens to it that of the middleware.

mod capabilities;
mod flight;
mod lifecycle;
mod pages;
mod past;
mod repeats;
mod revision;

use stickler::Limits;

pub(crate) use capabilities::{Capabilities, needed_by};
pub(crate) use flight::{Flight, Landing};
pub(crate) use pages::{Page, next_cursor};
pub use repeats::Repeats;
pub(crate) use repeats::SharedRepeats;

use crate::envelope::RequestId;
use crate::protocol::Revision;
use crate::side::Side;
use flight::Flights;
use lifecycle::Handshake;
use pages::Pages;
use revision::Spoken;
pub(crate) use revision::handshake_revision;

/// One client and one server.
#[derive(Debug)]
pub(crate) struct Session {
    /// The revision that somebody outside of the messages has fixed.
    fixed: Option<Revision>,
    handshake: Handshake,
    /// What the handshake came to.
    agreed: Option<Spoken>,
    /// What the last request that spoke for itself said.
    declared: Option<Spoken>,
    announced: [Option<Capabilities>; 2],
    flights: [Flights; 2],
    pub(crate) pages: Pages,
    pub(crate) repeats: SharedRepeats,
    refused_calls: u64,
    told_unknown: bool,
}

impl Session {
    pub(crate) fn new(limits: &Limits) -> Self {
        let flights = || Flights::new(limits.requests_in_flight);
        Self {
            fixed: None,
            handshake: Handshake::default(),
            agreed: None,
            declared: None,
            announced: [None, None],
            flights: [flights(), flights()],
            pages: Pages::new(limits.tools_per_server),
            repeats: SharedRepeats::default(),
            refused_calls: 0,
            told_unknown: false,
        }
    }

    /// The requests that a side has made.
    pub(crate) fn flights(&mut self, requester: Side) -> &mut Flights {
        let [client, server] = &mut self.flights;
        match requester {
            Side::Client => client,
            Side::Server => server,
        }
    }

    /// Whether a request of the client's that is still to be judged has that id.
    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        let [client, _] = &self.flights;
        client.is_reserved(id)
    }

    /// Remembers only what matters to go on.
    pub(crate) fn rest(&mut self) {
        self.flights.iter_mut().for_each(Flights::rest);
        self.pages.forget();
        self.repeats.rest();
    }

    pub(crate) fn announced(&self, side: Side) -> Option<Capabilities> {
        let [client, server] = self.announced;
        match side {
            Side::Client => client,
            Side::Server => server,
        }
    }

    pub(crate) fn announce(&mut self, side: Side, capabilities: Capabilities) {
        let [client, server] = &mut self.announced;
        *match side {
            Side::Client => client,
            Side::Server => server,
        } = Some(capabilities);
    }

    /// The last refusal of a call did not happen: the call will be judged again.
    pub(crate) fn take_back_refusal(&mut self) {
        self.repeats.take_back();
        self.refused_calls = self.refused_calls.saturating_sub(1);
    }

    /// The turn of a refused call, where the caller does not number its turns.
    pub(crate) fn next_turn(&mut self) -> u64 {
        self.refused_calls += 1;
        self.refused_calls
    }
}
