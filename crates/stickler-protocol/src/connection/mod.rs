//! Sans-I/O state machine between one client and one server.
//!
//! Each `handle_*` method takes an input and the current time and returns a list of [`Action`]s: the
//! messages to send to either side and the events to report. [`Connection::poll_timeout`] returns the next
//! deadline. The caller moves the bytes, keeps the clock and runs work that takes long (`work.rs`), whose outcome it
//! passes to [`Connection::handle_done`].
//!
//! A message passes three phases (`inspect.rs`): it is inspected, decided on and committed. A call whose
//! decision needs a tool list that is missing or old is held (`held.rs`) until the list arrives
//! (`tools.rs`) and then inspected again. A connection also announces and serves `toolValidation` for
//! servers that do not (`announce.rs`, `service.rs`).

mod action;
mod announce;
mod capabilities;
mod context;
mod held;
mod inspect;
mod learn;
mod lifecycle;
mod pages;
mod pending;
mod recently_completed;
mod rejected_calls;
mod revision;
mod rewrite;
mod service;
mod settings;
mod setup;
mod subscription;
mod timeout;
mod tool_fetch;
mod tools;
mod unmatched;
mod validation_cache;
mod work;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler::rules::Code;
use stickler::tape::TapeBuffer;
use stickler::tool_validation::ToolValidationCapability;
use stickler::{McpValidator, MemoryBudget};

pub use action::{Action, Actions, Event, Purpose};
pub use context::{RequestContext, TraceHeaders};
pub use rejected_calls::RejectionCounts;
pub use settings::ConnectionSettings;
pub use timeout::cancellation;
pub use work::{Done, Work};

use crate::envelope::{PartialHeader, RequestId};
use crate::policy::Policy;
use crate::protocol::ProtocolSchemas;
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Part, Reply};
use inspect::{Attempt, ListUse};
use lifecycle::Lifecycle;
use pages::Pages;
pub(crate) use pending::PendingRequest;
use pending::PendingTable;
use rejected_calls::RejectedCalls;
use subscription::Subscription;
use tool_fetch::ToolFetch;
use tools::warn_if_stale;
use validation_cache::ValidationCache;

/// The connection between one client and one server.
#[derive(Debug)]
pub struct Connection {
    /// The server's name in the tool cache.
    server: Arc<str>,
    validator: Arc<McpValidator>,
    protocol: Arc<ProtocolSchemas>,
    policy: Arc<Policy>,
    settings: Arc<ConnectionSettings>,
    buffer: TapeBuffer,
    lifecycle: Lifecycle,
    pending: PendingTable,
    rejected_calls: RejectedCalls,
    /// Unfinished tool lists that the client requests.
    pages: Pages,
    /// The tool list request of the gateway itself.
    tool_fetch: ToolFetch,
    subscription: Subscription,
    /// The client capabilities declared by the most recent held call.
    capabilities: Option<Value>,
    /// The server announces `toolValidation` itself, so the gateway does not.
    server_validates: bool,
    /// The `toolValidation` capability that the server announced.
    server_capability: Option<ToolValidationCapability>,
    validation_cache: ValidationCache,
    /// The next time to check for timed-out requests.
    timeout_at: Option<Duration>,
    /// The next time to check for requests that wait since an unmatched answer.
    unmatched_at: Option<Duration>,
}

impl Connection {
    /// Handles a message from the client.
    pub fn handle_client<'m>(
        &mut self,
        message: &'m [u8],
        context: &RequestContext,
        now: Duration,
    ) -> Actions<'m> {
        let mut out = Actions::default();
        let prepared = self.unprepared();
        let attempt = Attempt { list: ListUse::Refreshable, prepared, no_room: None, context };
        self.process_client_message(Cow::Borrowed(message), now, attempt, &mut out);
        self.arm_timeout(now);
        out
    }

    /// Handles a message from the server.
    pub fn handle_server<'m>(&mut self, message: &'m [u8], now: Duration) -> Actions<'m> {
        let mut out = Actions::default();
        if !self.handle_gateway_message(message, now, &mut out) {
            self.process_server_message(Cow::Borrowed(message), now, &mut out);
        }
        self.arm_timeout(now);
        out
    }

    /// Handles a message that exceeded the size limit and was not kept, given its partial header.
    pub fn handle_oversized(&mut self, sender: Side, partial: PartialHeader) -> Actions<'static> {
        let mut out = Actions::default();
        let verdict = self.oversized(sender, partial);
        out.apply(sender, verdict, Cow::Borrowed(&[]));
        out
    }

    /// Returns the number of pending client requests.
    pub fn pending_requests(&self) -> usize {
        self.pending.of(Side::Client).len()
    }

    /// Returns whether a request of the client, or of the gateway itself, waits for its response.
    pub fn awaits(&self, id: &RequestId) -> bool {
        let is_gateway_request =
            |id: &str| self.tool_fetch.awaits(id) || self.subscription.awaits(id);
        self.pending.of(Side::Client).is_pending(id)
            || matches!(id, RequestId::String(id) if is_gateway_request(id))
    }

    /// Returns the number of pending requests of a side.
    pub(crate) fn pending_requests_of(&self, requester: Side) -> usize {
        self.pending.of(requester).len()
    }

    /// Returns the budget that held calls and tool lists count towards.
    pub fn memory(&self) -> &MemoryBudget {
        self.validator.cache().memory()
    }

    /// Returns whether calls are held until the tool list arrives or work is done.
    pub fn has_held_calls(&self) -> bool {
        self.pending.of(Side::Client).first_held().is_some()
    }

    /// Frees caches and buffers of an idle connection. Session state, pending requests and held calls
    /// are kept.
    pub fn shrink(&mut self) {
        self.buffer = TapeBuffer::new();
        self.pending.shrink();
        self.pages.clear();
        self.rejected_calls.shrink();
        self.validation_cache.clear();
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); `None` if no timer is needed.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let hold_deadline = self.pending.of(Side::Client).hold_deadline();
        let deadlines = [hold_deadline, self.timeout_at, self.unmatched_at];
        deadlines.into_iter().flatten().min()
    }

    /// Handles expired deadlines: forwards calls held for too long without checking them, and
    /// answers timed-out requests with an error.
    pub fn handle_timeout(&mut self, now: Duration) -> Actions<'static> {
        let mut out = Actions::default();
        let hold_deadline = self.pending.of(Side::Client).hold_deadline();
        if hold_deadline.is_some_and(|deadline| deadline <= now) {
            self.tool_fetch.abandon(now);
            self.mark_unverified("the server did not list its tools in time", &mut out);
            self.release_held(now, &mut out);
        }
        self.expire_requests(now, &mut out);
        self.expire_unmatched(now, &mut out);
        self.arm_timeout(now);
        out
    }

    /// Handles the loss of the server: answers every pending and held request with an error.
    pub fn server_gone(&mut self, code: Code, reason: &str, now: Duration) -> Actions<'static> {
        let mut out = Actions::default();
        self.tool_fetch.abandon(now);
        self.release_all(now, &mut out);
        out.drop_messages_to_server();
        for reply in self.abandon(Side::Client, code, reason) {
            out.reply(Side::Client, reply);
        }
        out
    }

    /// Handles a restarted server: marks the tool list as changed, resets the subscription and
    /// abandons the requests of the previous process.
    pub fn server_replaced(&mut self) {
        self.tool_fetch.clear_failure();
        self.subscription.reset();
        self.validator.cache().mark_changed(&self.server);
        self.abandon(Side::Server, Code::ServerGone, "the server was restarted");
    }

    /// Abandons all pending requests of a side and returns the errors for their sender.
    pub(crate) fn abandon(&mut self, requester: Side, code: Code, reason: &str) -> Vec<Reply> {
        let requests = self.pending.of_mut(requester).abandon_all();
        requests.iter().map(|pending| Responder::abandoned(pending, code, reason)).collect()
    }

    /// Abandons a client request and returns the error for the client; `None` if it is not pending.
    pub fn abandon_request(&mut self, id: &RequestId, code: Code, reason: &str) -> Option<Reply> {
        let pending = self.pending.of_mut(Side::Client).abandon(id)?;
        Some(Responder::abandoned(&pending, code, reason))
    }

    /// Handles the failure of a gateway request that got no response, for example because the
    /// upstream is unreachable. Ignores every other id.
    pub fn gateway_request_failed(
        &mut self,
        id: &RequestId,
        reason: &str,
        now: Duration,
    ) -> Actions<'static> {
        let mut out = Actions::default();
        let RequestId::String(id) = id else { return out };
        if let Some(failure) = self.tool_fetch.fail(id, reason) {
            self.advance_fetch(failure, 0, now, &mut out);
        } else if let Some(event) = self.subscription.fail(id, reason) {
            self.handle_subscription(event, &mut out);
        }
        out
    }

    /// Consumes a message that belongs to a gateway request or subscription; returns whether it did.
    fn handle_gateway_message(
        &mut self,
        message: &[u8],
        now: Duration,
        out: &mut Actions<'_>,
    ) -> bool {
        if let Some(reply) = self.tool_fetch.match_response(message) {
            self.handle_tool_list(&reply, now, out);
            return true;
        }
        let event = self.subscription.match_message(message);
        event.map(|event| self.handle_subscription(event, out)).is_some()
    }

    /// Checks a client message and carries out the decision, or holds the message.
    fn process_client_message<'m>(
        &mut self,
        message: Cow<'m, [u8]>,
        now: Duration,
        attempt: Attempt<'_>,
        out: &mut Actions<'m>,
    ) {
        let verdict = match self.check(Side::Client, &message, now, attempt) {
            Ok(verdict) => verdict,
            Err(must_wait) => return self.hold(*must_wait, message, now, attempt, out),
        };
        let answers = |connection: &mut Self, part: &Part, message: &[u8]| {
            connection.gateway_answer(part, message, now).map(Box::new).map(Decision::Answer)
        };
        let mut verdict = self.rewrite_parts(verdict, &message, answers);
        warn_if_stale(&mut verdict);
        out.apply(Side::Client, verdict, message);
    }

    fn process_server_message<'m>(
        &mut self,
        message: Cow<'m, [u8]>,
        now: Duration,
        out: &mut Actions<'m>,
    ) {
        let verdict = self.check_now(Side::Server, &message, now);
        let additions = |connection: &mut Self, part: &Part, message: &[u8]| {
            connection.rewrite_server_message(part, message, now, out)
        };
        let checked = verdict.decision.clone();
        let mut verdict = self.rewrite_parts(verdict, &message, additions);
        let ended_handshake = verdict.header.method.as_deref() == Some("initialize");
        out.send(Side::Server, &verdict, message);
        if matches!(verdict.decision, Decision::Rewrite(_)) {
            // Additions by the gateway are not findings: report the original decision.
            verdict.decision = checked;
        }
        out.event(Event::Checked { sender: Side::Server, verdict });
        if ended_handshake && self.pending.of(Side::Client).waits_for_list() {
            match self.lifecycle.server_has_tools() {
                Some(true) => self.fetch_tools(out),
                _ => self.release_held(now, out),
            }
        }
    }
}
