//! A connection without the behaviour of a gateway: takes the bytes of a message and returns the verdict.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use stickler::{McpValidator, ValidationConfig};
//! use stickler_protocol::{Decision, Policy, ProtocolSchemas, Side};
//! use stickler_protocol::ValidationMiddleware;
//!
//! let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
//! let mut middleware = ValidationMiddleware::new("files", validator);
//! let verdict = middleware.handle(Side::Client, b"{\"jsonrpc\":", Duration::ZERO);
//! let Decision::Answer(reply) = verdict.decision else { panic!("the message must be rejected") };
//! assert!(reply.starts_with(br#"{"jsonrpc":"2.0","error":{"code":-32700"#));
//! ```
//!
//! A middleware sends nothing itself: it requests no tool list, holds no call and serves no
//! `toolValidation`. Callers that want this use a [`Connection`].

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use stickler::McpValidator;
use stickler::rules::Code;

use crate::connection::{Connection, ConnectionSettings, RejectionCounts};
use crate::envelope::PartialHeader;
use crate::policy::Policy;
use crate::protocol::{ProtocolSchemas, Revision};
use crate::side::Side;
use crate::verdict::{Reply, Verdict};

/// Checks all messages between one client and one server.
#[derive(Debug)]
pub struct ValidationMiddleware(Connection);

/// The middleware never sends requests, so its settings do not matter.
static SETTINGS: LazyLock<Arc<ConnectionSettings>> = LazyLock::new(Arc::default);

impl ValidationMiddleware {
    /// Creates the middleware of one connection to a server. The validator is shared, so tools
    /// learned on one connection apply to all.
    pub fn new(server: impl Into<Arc<str>>, validator: Arc<McpValidator>) -> Self {
        Self(Connection::new(server, validator, Arc::clone(&SETTINGS)))
    }

    /// Sets the policy for rule violations.
    #[must_use]
    pub fn with_policy(self, policy: impl Into<Arc<Policy>>) -> Self {
        Self(self.0.with_policy(policy))
    }

    /// Sets the protocol schemas.
    #[must_use]
    pub fn with_protocol(self, protocol: impl Into<Arc<ProtocolSchemas>>) -> Self {
        Self(self.0.with_protocol(protocol))
    }

    /// Shares the count of repeated rejections with other connections. Stateless HTTP requests need
    /// this, because each has its own middleware.
    #[must_use]
    pub fn with_rejection_counts(self, counts: Arc<Mutex<RejectionCounts>>) -> Self {
        Self(self.0.with_rejection_counts(counts))
    }

    /// Fixes the revision, for transports that declare it outside of the messages.
    #[must_use]
    pub fn with_revision(self, revision: Revision) -> Self {
        Self(self.0.with_revision(revision))
    }

    /// Joins a session after a handshake elsewhere that agreed on `version`, known or unknown.
    #[must_use]
    pub fn in_session(self, version: &str) -> Self {
        Self(self.0.in_session(version))
    }

    /// Checks one message.
    pub fn handle(&mut self, sender: Side, bytes: &[u8], now: Duration) -> Verdict {
        self.0.check_now(sender, bytes, now)
    }

    /// Checks a message that exceeded the size limit and was not kept, given its partial header.
    pub fn handle_oversized(&mut self, sender: Side, partial: PartialHeader) -> Verdict {
        self.0.oversized(sender, partial)
    }

    /// Returns the revision in use, or the default before the peers agree; `None` if it is unknown.
    pub fn revision(&self) -> Option<Revision> {
        self.0.revision()
    }

    /// Returns the revision that the peers agreed on or declared; `None` before, or if it is unknown.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.0.agreed_revision()
    }

    /// Returns the number of pending requests of a side.
    pub fn pending_requests(&self, requester: Side) -> usize {
        self.0.pending_requests_of(requester)
    }

    /// Abandons all pending requests of a side and returns the errors for their sender.
    pub fn abandon(&mut self, requester: Side, code: Code, reason: &str) -> Vec<Reply> {
        self.0.abandon(requester, code, reason)
    }
}
