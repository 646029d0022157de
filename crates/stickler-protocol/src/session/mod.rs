//! State of one session: revision, handshake, capabilities and pending requests.
//!
//! A state machine without I/O. The middleware passes messages in the order in which they are
//! forwarded, and the session checks that order. The schema of a message is checked by
//! [`protocol`](crate::protocol); the verdict on it is made by the middleware.

mod capabilities;
mod lifecycle;
mod pages;
mod pending;
mod recently_completed;
mod rejection_counts;
mod revision;

use stickler::Limits;

pub(crate) use capabilities::{Capabilities, required_capability};
pub(crate) use pages::{Page, next_cursor};
pub(crate) use pending::{Completion, PendingRequest};
pub use rejection_counts::RejectionCounts;
pub(crate) use rejection_counts::SharedRejectionCounts;

use crate::envelope::RequestId;
use crate::protocol::Revision;
use crate::side::Side;
use lifecycle::Handshake;
use pages::Pages;
use pending::PendingRequests;
use revision::NamedRevision;
pub(crate) use revision::handshake_revision;

/// The session of one client and one server.
#[derive(Debug)]
pub(crate) struct Session {
    /// The revision set outside of the messages, for example by an HTTP header.
    fixed: Option<Revision>,
    handshake: Handshake,
    /// The revision that the handshake agreed on.
    agreed: Option<NamedRevision>,
    /// The revision that the last self-contained request declared.
    declared: Option<NamedRevision>,
    announced: [Option<Capabilities>; 2],
    pending: [PendingRequests; 2],
    pub(crate) pages: Pages,
    pub(crate) rejection_counts: SharedRejectionCounts,
    rejected_calls: u64,
    reported_unknown_revision: bool,
}

impl Session {
    pub(crate) fn new(limits: &Limits) -> Self {
        let requests = || PendingRequests::new(limits.requests_in_flight);
        Self {
            fixed: None,
            handshake: Handshake::default(),
            agreed: None,
            declared: None,
            announced: [None, None],
            pending: [requests(), requests()],
            pages: Pages::new(limits.tools_per_server),
            rejection_counts: SharedRejectionCounts::default(),
            rejected_calls: 0,
            reported_unknown_revision: false,
        }
    }

    /// Returns the pending requests of a side.
    pub(crate) fn pending(&mut self, requester: Side) -> &mut PendingRequests {
        let [client, server] = &mut self.pending;
        match requester {
            Side::Client => client,
            Side::Server => server,
        }
    }

    /// Returns whether a held client request reserves an id.
    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        let [client, _] = &self.pending;
        client.is_reserved(id)
    }

    /// Frees all history that is not needed to continue.
    pub(crate) fn shrink(&mut self) {
        self.pending.iter_mut().for_each(PendingRequests::shrink);
        self.pages.clear();
        self.rejection_counts.shrink();
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

    /// Reverts the counters of the last rejection, because the call will be checked again.
    pub(crate) fn rollback_rejection(&mut self) {
        self.rejection_counts.rollback();
        self.rejected_calls = self.rejected_calls.saturating_sub(1);
    }

    /// Returns the turn number of a rejected call if the caller does not send one.
    pub(crate) fn next_turn(&mut self) -> u64 {
        self.rejected_calls += 1;
        self.rejected_calls
    }
}
