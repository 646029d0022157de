//! Composes all stages: takes the bytes of a message and returns the verdict.
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
//! Each message is parsed once, onto the tape. Its envelope determines its kind; then the schema of
//! the revision, the rules of the session and the schema of the tool are checked in turn. Each stage
//! records findings in a [`Case`], which applies the policy. A response is built only after a
//! rejection.

mod batch;
mod call;
mod case;
mod malformed;
mod notification;
mod request;
mod response;
mod results;
mod shape;

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use stickler::rules::Code;
use stickler::tape::{Kind, Node, SyntaxErrorKind, TapeBuffer};
use stickler::{Limits, McpValidator};

use crate::envelope::{Envelope, PartialHeader, RequestId, Shape};
use crate::policy::Policy;
use crate::protocol::{ProtocolSchemas, Revision};
use crate::reply::Reply;
use crate::session::{RejectionCounts, Session, SharedRejectionCounts};
use crate::side::Side;
use crate::verdict::Verdict;
pub(crate) use batch::combine_decisions;
use case::Case;

/// Checks all messages between one client and one server.
#[derive(Debug)]
pub struct ValidationMiddleware {
    /// The server's name in the tool cache.
    server: Arc<str>,
    validator: Arc<McpValidator>,
    protocol: Arc<ProtocolSchemas>,
    policy: Arc<Policy>,
    session: Session,
    buffer: TapeBuffer,
}

/// Shared defaults, because a stateless HTTP request creates a new middleware.
static PROTOCOL: LazyLock<Arc<ProtocolSchemas>> = LazyLock::new(Arc::default);
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);

/// Nesting limit of the second parse, which distinguishes deep JSON from invalid JSON.
const MAX_REPARSE_DEPTH: usize = 1 << 16;

/// A parsed message with its sender and time of arrival.
#[derive(Debug, Clone, Copy)]
struct Incoming<'m> {
    side: Side,
    node: Node<'m>,
    now: Duration,
}

impl ValidationMiddleware {
    /// Creates the middleware of one connection to a server. The validator is shared, so tools
    /// learned on one connection apply to all.
    pub fn new(server: impl Into<Arc<str>>, validator: Arc<McpValidator>) -> Self {
        let session = Session::new(&validator.config().limits);
        Self {
            server: server.into(),
            validator,
            protocol: Arc::clone(&PROTOCOL),
            policy: Arc::clone(&POLICY),
            session,
            buffer: TapeBuffer::new(),
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
    /// this, because each has its own middleware.
    #[must_use]
    pub fn with_rejection_counts(mut self, rejection_counts: Arc<Mutex<RejectionCounts>>) -> Self {
        self.session.rejection_counts = SharedRejectionCounts::new(rejection_counts);
        self
    }

    /// Fixes the revision, for transports that declare it outside of the messages.
    #[must_use]
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.session.fix_revision(revision);
        self
    }

    /// Joins a session after a handshake elsewhere that agreed on `version`, known or unknown.
    #[must_use]
    pub fn in_session(mut self, version: &str) -> Self {
        self.session.join(version);
        self
    }

    /// Returns the revision in use, or the default before the peers agree; `None` if it is unknown.
    pub fn revision(&self) -> Option<Revision> {
        self.session.revision()
    }

    /// Returns the revision that the peers agreed on or declared; `None` before, or if it is unknown.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.session.revision().filter(|_| self.session.has_agreed())
    }

    /// Returns whether the revision was fixed, agreed on or declared.
    pub(crate) fn is_revision_settled(&self) -> bool {
        self.session.is_fixed() || self.session.has_agreed()
    }

    /// Returns the number of pending requests of a side.
    pub fn pending_requests(&mut self, requester: Side) -> usize {
        self.session.pending(requester).len()
    }

    /// Frees buffers and history of an idle connection.
    pub(crate) fn shrink(&mut self) {
        self.buffer = TapeBuffer::new();
        self.session.shrink();
    }

    /// Returns whether the server announced tools; `None` during the handshake.
    pub fn server_has_tools(&self) -> Option<bool> {
        match self.session.announced(Side::Server) {
            Some(announced) => Some(announced.has("tools")),
            None if self.session.is_in_handshake() => None,
            None => Some(true),
        }
    }

    /// Returns whether the server announced tool list change notifications; `None` before that.
    pub(crate) fn server_notifies_changes(&self) -> Option<bool> {
        self.session.announced(Side::Server).map(|announced| announced.has("tools.listChanged"))
    }

    /// Reverts the counters of the last rejection, because the call will be checked again.
    pub(crate) fn rollback_rejection(&mut self) {
        self.session.rollback_rejection();
    }

    /// Returns the number of client requests forwarded so far.
    pub(crate) fn started(&mut self) -> u64 {
        self.session.pending(Side::Client).started()
    }

    /// Removes a pending call that will be checked again.
    pub(crate) fn rollback_call(&mut self, id: &RequestId) {
        self.session.pending(Side::Client).rollback(id);
    }

    /// Reserves the ids of held client requests.
    pub(crate) fn reserve(&mut self, ids: Vec<RequestId>) {
        self.session.pending(Side::Client).reserve(ids);
    }

    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        self.session.is_reserved(id)
    }

    /// Ends all reservations, before the held requests are checked.
    pub(crate) fn end_reservations(&mut self) {
        self.session.pending(Side::Client).end_reservations();
    }

    /// Completes a pending request that the gateway answered itself.
    pub fn mark_answered(&mut self, requester: Side, id: &RequestId) {
        self.session.pending(requester).complete(id);
    }

    /// Checks one message.
    pub fn handle(&mut self, sender: Side, bytes: &[u8], now: Duration) -> Verdict {
        // The tape borrows its buffer while the session changes.
        let mut buffer = std::mem::take(&mut self.buffer);
        let verdict = self.read(&mut buffer, sender, bytes, now);
        self.buffer = buffer;
        verdict
    }

    /// Checks a message that exceeded the size limit and was not kept, given its partial header.
    pub fn handle_oversized(&mut self, sender: Side, partial: PartialHeader) -> Verdict {
        self.oversized(sender, partial)
    }

    /// Abandons all pending requests of a side and returns the errors for their sender.
    pub fn abandon(&mut self, requester: Side, code: Code, reason: &str) -> Vec<Vec<u8>> {
        let requests = self.session.pending(requester).abandon_all();
        let replies = requests.iter().map(|pending| {
            let reply = Reply { id: Some(&pending.id), revision: pending.revision };
            reply.abandoned(code, reason, &pending.method)
        });
        replies.collect()
    }

    /// Abandons one pending request and returns the error for its sender.
    pub fn abandon_one(
        &mut self,
        requester: Side,
        id: &RequestId,
        code: Code,
        reason: &str,
    ) -> Option<Vec<u8>> {
        let pending = self.session.pending(requester).abandon(id)?;
        let reply = Reply { id: Some(&pending.id), revision: pending.revision };
        Some(reply.abandoned(code, reason, &pending.method))
    }

    /// Returns the client requests sent at or before `cutoff`, and when the oldest of the others was
    /// sent.
    pub(crate) fn overdue(&mut self, cutoff: Duration) -> (Vec<RequestId>, Option<Duration>) {
        // A subscription has no timeout: it stays pending until a peer ends it.
        let has_no_timeout = |method: &str| method == "subscriptions/listen";
        self.session.pending(Side::Client).overdue(cutoff, has_no_timeout)
    }

    /// Returns the method of a pending client request.
    pub(crate) fn method_of(&mut self, id: &RequestId) -> Option<String> {
        self.session.pending(Side::Client).method_of(id).map(str::to_owned)
    }

    fn read(
        &mut self,
        buffer: &mut TapeBuffer,
        side: Side,
        bytes: &[u8],
        now: Duration,
    ) -> Verdict {
        let limits = *self.limits();
        // As in the framer, a trailing `\r` belongs to the line ending.
        if bytes.strip_suffix(b"\r").unwrap_or(bytes).len() > limits.message_bytes {
            return self.oversized(side, PartialHeader::of(bytes));
        }
        if bytes.trim_ascii().is_empty() {
            return self.empty(side);
        }
        match buffer.read(bytes, limits.message_depth) {
            Ok(tape) => self.message(Incoming { side, node: tape.root(), now }),
            Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                self.invalid_json(side, bytes, &error)
            }
            // Invalid JSON takes precedence over excessive nesting.
            Err(_) => match buffer.read(bytes, MAX_REPARSE_DEPTH) {
                Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                    self.invalid_json(side, bytes, &error)
                }
                Ok(tape) if tape.root().kind() == Kind::Array => {
                    self.too_deep_batch(side, tape.root())
                }
                _ => self.too_deep(side, bytes),
            },
        }
    }

    fn message(&mut self, incoming: Incoming<'_>) -> Verdict {
        let envelope = Envelope::identify(incoming.node);
        match envelope.shape {
            Shape::Batch => self.batch(incoming),
            _ => self.single(incoming, &envelope),
        }
    }

    fn single(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Verdict {
        match envelope.shape {
            Shape::Request => self.request(incoming, envelope),
            Shape::Notification => self.notification(incoming, envelope),
            Shape::Result | Shape::Error => self.response(incoming, envelope),
            Shape::Batch | Shape::Noise => self.noise(incoming),
        }
    }

    fn limits(&self) -> &Limits {
        &self.validator.config().limits
    }

    fn case(&self, side: Side) -> Case {
        Case::new(Arc::clone(&self.policy), side)
    }
}
