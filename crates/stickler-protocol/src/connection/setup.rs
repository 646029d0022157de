//! Construction of a connection, and what is known about its revision.

use std::sync::{Arc, LazyLock, Mutex};

use stickler::McpValidator;
use stickler::tape::TapeBuffer;

use super::lifecycle::Lifecycle;
use super::pages::Pages;
use super::pending::PendingTable;
use super::rejected_calls::{RejectedCalls, RejectionCounts};
use super::subscription::Subscription;
use super::tool_fetch::ToolFetch;
use super::validation_cache::ValidationCache;
use super::{Connection, ConnectionSettings};
use crate::policy::Policy;
use crate::protocol::{ProtocolSchemas, Revision};

/// Shared defaults, because a stateless HTTP request creates a new connection.
static PROTOCOL: LazyLock<Arc<ProtocolSchemas>> = LazyLock::new(Arc::default);
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);

impl Connection {
    /// Creates a connection to the server with that name in the tool cache. The validator is shared, so
    /// tools learned on one connection apply to all.
    pub fn new(
        server: impl Into<Arc<str>>,
        validator: Arc<McpValidator>,
        settings: impl Into<Arc<ConnectionSettings>>,
    ) -> Self {
        let settings = settings.into();
        let limits = validator.config().limits;
        Self {
            server: server.into(),
            validator,
            protocol: Arc::clone(&PROTOCOL),
            policy: Arc::clone(&POLICY),
            buffer: TapeBuffer::new(),
            lifecycle: Lifecycle::default(),
            pending: PendingTable::new(limits.requests_in_flight),
            rejected_calls: RejectedCalls::default(),
            pages: Pages::new(limits.tools_per_server),
            tool_fetch: ToolFetch::new(settings.first_request_number),
            subscription: Subscription::new(settings.first_request_number),
            settings,
            capabilities: None,
            server_validates: false,
            server_capability: None,
            validation_cache: ValidationCache::default(),
            timeout_at: None,
            unmatched_at: None,
        }
    }

    /// Sets the policy for rule violations.
    #[must_use]
    pub fn with_policy(mut self, policy: impl Into<Arc<Policy>>) -> Self {
        self.policy = policy.into();
        self
    }

    /// Sets the protocol schemas.
    #[must_use]
    pub fn with_protocol(mut self, protocol: impl Into<Arc<ProtocolSchemas>>) -> Self {
        self.protocol = protocol.into();
        self
    }

    /// Shares the count of repeated rejections with other connections. Stateless HTTP requests need
    /// this, because each has its own connection.
    #[must_use]
    pub fn with_rejection_counts(mut self, counts: Arc<Mutex<RejectionCounts>>) -> Self {
        self.rejected_calls.share(counts);
        self
    }

    /// Fixes the revision, for transports that declare it outside of the messages.
    #[must_use]
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.lifecycle.fix_revision(revision);
        self
    }

    /// Joins a session after a handshake elsewhere that agreed on `version`, known or unknown.
    #[must_use]
    pub fn in_session(mut self, version: &str) -> Self {
        self.lifecycle.join(version);
        self
    }

    /// Returns the revision in use, or the default before the peers agree; `None` if it is unknown.
    pub fn revision(&self) -> Option<Revision> {
        self.lifecycle.revision()
    }

    /// Returns the revision that the peers agreed on or declared; `None` before that, and for an
    /// unknown revision.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.lifecycle.revision().filter(|_| self.lifecycle.has_agreed())
    }

    /// Returns whether the revision was fixed, agreed on or declared, known or unknown.
    pub fn is_revision_settled(&self) -> bool {
        self.lifecycle.is_fixed() || self.lifecycle.has_agreed()
    }
}
