//! Bytes in, verdict out: all stages composed.
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
//! let Decision::Answer(reply) = verdict.decision else { panic!("it must be refused") };
//! assert!(reply.starts_with(br#"{"jsonrpc":"2.0","error":{"code":-32700"#));
//! ```
//!
//! A message is read once, onto the tape. Its envelope says what it is; the shape of its kind, the
//! session's rules and the tool's schema are then asked in turn. Each has its say through a
//! [`Case`], which knows the policy. Only when something refuses is an answer built.

mod batch;
mod call;
mod case;
mod learning;
mod notification;
mod odd;
mod request;
mod response;
mod shape;

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use stickler::rules::Code;
use stickler::tape::{Kind, Node, SyntaxErrorKind, TapeBuffer};
use stickler::{Limits, McpValidator};

use crate::envelope::{Envelope, Glimpse, RequestId, Shape};
use crate::policy::Policy;
use crate::protocol::{ProtocolSchemas, Revision};
use crate::reply::Reply;
use crate::session::{Repeats, Session, SharedRepeats};
use crate::side::Side;
use crate::verdict::Verdict;
pub(crate) use batch::sum_up;
use case::Case;

/// Checks everything that one client and one server say to each other.
#[derive(Debug)]
pub struct ValidationMiddleware {
    /// The name under which the server's tools are known.
    server: Arc<str>,
    validator: Arc<McpValidator>,
    protocol: Arc<ProtocolSchemas>,
    policy: Arc<Policy>,
    session: Session,
    buffer: TapeBuffer,
}

/// What holds where nothing else is said, made once: some connections last for one message.
static PROTOCOL: LazyLock<Arc<ProtocolSchemas>> = LazyLock::new(Arc::default);
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);

/// How deep a message is looked into that is too deep already, to see whether it is JSON at all.
const DEEPEST: usize = 1 << 16;

/// One message, and the circumstances in which it came.
#[derive(Debug, Clone, Copy)]
struct Incoming<'m> {
    side: Side,
    node: Node<'m>,
    now: Duration,
}

impl ValidationMiddleware {
    /// For one connection to a server. The validator is shared: what is learnt about the server's
    /// tools on one connection holds for the others.
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

    /// Sets what becomes of messages that break a rule.
    #[must_use]
    pub fn with_policy(mut self, policy: impl Into<Arc<Policy>>) -> Self {
        self.policy = policy.into();
        self
    }

    /// Sets the protocol's schemas.
    #[must_use]
    pub fn with_protocol(mut self, protocol: impl Into<Arc<ProtocolSchemas>>) -> Self {
        self.protocol = protocol.into();
        self
    }

    /// Counts the same bad calls together with those of other connections: where each request has one of its
    /// own, none of them alone sees that it comes again.
    #[must_use]
    pub fn with_repeats(mut self, repeats: Arc<Mutex<Repeats>>) -> Self {
        self.session.repeats = SharedRepeats::new(repeats);
        self
    }

    /// Fixes the revision, where something other than the messages says it.
    #[must_use]
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.session.fix_revision(revision);
        self
    }

    /// Joins a session whose handshake was not seen and came to that version, known here or not.
    #[must_use]
    pub fn in_session(mut self, version: &str) -> Self {
        self.session.join(version);
        self
    }

    /// The revision that is spoken, as far as it is known by now; `None` for one we do not know.
    pub fn revision(&self) -> Option<Revision> {
        self.session.revision()
    }

    /// The same, but `None` too while nothing has been said about it.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.session.revision().filter(|_| self.session.has_agreed())
    }

    /// Whether something has been said about the revision, or it was fixed.
    pub(crate) fn is_revision_settled(&self) -> bool {
        self.session.is_fixed() || self.session.has_agreed()
    }

    /// How many requests of a side wait for an answer.
    pub fn in_flight(&mut self, requester: Side) -> usize {
        self.session.flights(requester).len()
    }

    /// Gives back memory that is kept only to be quick or to tell more.
    pub(crate) fn rest(&mut self) {
        self.buffer = TapeBuffer::new();
        self.session.rest();
    }

    /// Whether the server has tools, as far as it has said; `None` while it is about to say so.
    pub fn server_has_tools(&self) -> Option<bool> {
        match self.session.announced(Side::Server) {
            Some(announced) => Some(announced.has("tools")),
            None if self.session.is_in_handshake() => None,
            None => Some(true),
        }
    }

    /// Whether the server tells of changes to its tools, as far as it has said.
    pub(crate) fn server_tells_of_changes(&self) -> Option<bool> {
        self.session.announced(Side::Server).map(|announced| announced.has("tools.listChanged"))
    }

    /// The refusal of the last call is not told to anybody: the call will be judged again.
    pub(crate) fn take_back_refusal(&mut self) {
        self.session.take_back_refusal();
    }

    /// How many requests of the client have gone on.
    pub(crate) fn departed(&mut self) -> u64 {
        self.session.flights(Side::Client).departed()
    }

    /// A call that was to go on stays for now: it will be judged again.
    pub(crate) fn take_back_call(&mut self, id: &RequestId) {
        self.session.flights(Side::Client).take_back(id);
    }

    /// Requests of the client wait to be judged: their ids are not free.
    pub(crate) fn reserve(&mut self, ids: Vec<RequestId>) {
        self.session.flights(Side::Client).reserve(ids);
    }

    pub(crate) fn is_reserved(&self, id: &RequestId) -> bool {
        self.session.is_reserved(id)
    }

    /// They are judged now.
    pub(crate) fn end_reservations(&mut self) {
        self.session.flights(Side::Client).end_reservations();
    }

    /// A request was answered by somebody other than the one it was forwarded to.
    pub fn settle(&mut self, requester: Side, id: &RequestId) {
        self.session.flights(requester).land(id);
    }

    /// Judges one message.
    pub fn handle(&mut self, sender: Side, bytes: &[u8], now: Duration) -> Verdict {
        // The tape borrows its buffer while the session changes.
        let mut buffer = std::mem::take(&mut self.buffer);
        let verdict = self.read(&mut buffer, sender, bytes, now);
        self.buffer = buffer;
        verdict
    }

    /// Judges a message that was too long to be kept, by what was seen of it.
    pub fn handle_overlong(&mut self, sender: Side, glimpse: Glimpse) -> Verdict {
        self.overlong(sender, glimpse)
    }

    /// Gives up on everything that a side is still waiting for: the errors that it is to get, each
    /// naming its request.
    pub fn abandon(&mut self, requester: Side, code: Code, reason: &str) -> Vec<Vec<u8>> {
        let flights = self.session.flights(requester).abandon();
        let replies = flights.iter().map(|flight| {
            let reply = Reply { id: Some(&flight.id), revision: flight.revision };
            reply.gone(code, reason, &flight.method)
        });
        replies.collect()
    }

    /// Gives up on one request of a side: the error that it is to get.
    pub fn abandon_one(
        &mut self,
        requester: Side,
        id: &RequestId,
        code: Code,
        reason: &str,
    ) -> Option<Vec<u8>> {
        let flight = self.session.flights(requester).give_up(id)?;
        let reply = Reply { id: Some(&flight.id), revision: flight.revision };
        Some(reply.gone(code, reason, &flight.method))
    }

    /// The requests of the client that have waited since before a moment, and since when the oldest
    /// of the others waits.
    pub(crate) fn waiting_since(&mut self, moment: Duration) -> (Vec<RequestId>, Option<Duration>) {
        // A subscription lasts until somebody ends it.
        let lasts = |method: &str| method == "subscriptions/listen";
        self.session.flights(Side::Client).waiting_since(moment, lasts)
    }

    /// The method of a request of the client's that waits.
    pub(crate) fn method_of(&mut self, id: &RequestId) -> Option<String> {
        self.session.flights(Side::Client).method_of(id).map(str::to_owned)
    }

    fn read(
        &mut self,
        buffer: &mut TapeBuffer,
        side: Side,
        bytes: &[u8],
        now: Duration,
    ) -> Verdict {
        let limits = *self.limits();
        // As in the framer: the `\r` of a line's ending is no part of the message.
        if bytes.strip_suffix(b"\r").unwrap_or(bytes).len() > limits.message_bytes {
            return self.overlong(side, Glimpse::of(bytes));
        }
        if bytes.trim_ascii().is_empty() {
            return self.empty(side);
        }
        match buffer.read(bytes, limits.message_depth) {
            Ok(tape) => self.message(Incoming { side, node: tape.root(), now }),
            Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                self.unreadable(side, bytes, &error)
            }
            // Something may be wrong with it besides.
            Err(_) => match buffer.read(bytes, DEEPEST) {
                Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                    self.unreadable(side, bytes, &error)
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
