//! Sans-I/O state machine for one proxied connection between a client and a server.
//!
//! Each `handle_*` method takes an input and the current time and returns a list of [`Action`]s: the bytes to
//! send to either side and the events to report. [`Connection::poll_timeout`] returns the next
//! deadline. The caller moves the bytes and keeps the clock.
//!
//! A [`ValidationMiddleware`] checks each message. On top of it, a connection fetches the tool list if
//! a call needs one that is missing or stale, holds the call until the list arrives, and announces
//! and serves `toolValidation` for servers that do not.

mod action;
mod announce;
mod gateway_requests;
mod held_calls;
mod request_timeout;
mod rewrite;
mod service;
mod settings;
mod subscription;
mod tool_refresh;
mod validation_cache;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler::McpValidator;
use stickler::rules::Code;
use stickler::tool_validation::ToolValidationCapability;

pub use action::{Action, Actions, Event, Purpose};
pub use request_timeout::cancellation;
pub use settings::ConnectionSettings;

use crate::envelope::{PartialHeader, RequestId};
use crate::headers::ParamHeaders;
use crate::middleware::ValidationMiddleware;
use crate::protocol::Revision;
use crate::side::Side;
use crate::verdict::{Decision, Part, Reply};
use gateway_requests::GatewayRequests;
use held_calls::HeldCalls;
use subscription::Subscription;
use tool_refresh::{depends_on_list, is_unknown_tool, warn_if_stale};
use validation_cache::ValidationCache;

/// A proxied connection between one client and one server.
#[derive(Debug)]
pub struct Connection {
    server: Arc<str>,
    validator: Arc<McpValidator>,
    middleware: ValidationMiddleware,
    settings: Arc<ConnectionSettings>,
    gateway_requests: GatewayRequests,
    subscription: Subscription,
    held: HeldCalls,
    /// The client capabilities declared by the most recent held call.
    capabilities: Option<Value>,
    /// The HTTP headers of the request that mirror call arguments.
    param_headers: Option<ParamHeaders>,
    /// The server announces `toolValidation` itself, so the gateway does not.
    server_validates: bool,
    /// The `toolValidation` capability that the server announced.
    server_capability: Option<ToolValidationCapability>,
    validation_cache: ValidationCache,
    /// The next time to check for timed-out requests.
    timeout_at: Option<Duration>,
}

/// Which check of a call this is: the first, or the one after the tool list was refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Initial,
    AfterRefresh,
}

impl Connection {
    /// Creates the state of one connection. The middleware carries policy, schemas and revision and
    /// must share `validator`, because the connection refreshes that validator's tool cache.
    pub fn new(
        server: impl Into<Arc<str>>,
        validator: Arc<McpValidator>,
        middleware: ValidationMiddleware,
        settings: impl Into<Arc<ConnectionSettings>>,
    ) -> Self {
        let settings = settings.into();
        Self {
            server: server.into(),
            validator,
            middleware,
            gateway_requests: GatewayRequests::new(settings.first_request_number),
            subscription: Subscription::new(settings.first_request_number),
            settings,
            held: HeldCalls::default(),
            capabilities: None,
            param_headers: None,
            server_validates: false,
            server_capability: None,
            validation_cache: ValidationCache::default(),
            timeout_at: None,
        }
    }

    /// Sets the headers of the HTTP request that mirror call arguments. They are compared as soon as
    /// the tool's schema defines which arguments are mirrored.
    #[must_use]
    pub fn with_param_headers(mut self, param_headers: ParamHeaders) -> Self {
        self.param_headers = Some(param_headers);
        self
    }

    /// Handles a message from the client.
    pub fn handle_client<'m>(&mut self, message: &'m [u8], now: Duration) -> Actions<'m> {
        let mut out = Actions::default();
        if !self.must_hold(message, now) {
            self.process_client_message(Cow::Borrowed(message), now, Attempt::Initial, &mut out);
        } else if self.settings.hold_calls {
            self.hold(message.to_vec(), now, &mut out);
        } else {
            self.process_client_message(
                Cow::Borrowed(message),
                now,
                Attempt::AfterRefresh,
                &mut out,
            );
            self.fetch_tools(&mut out);
        }
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
        let verdict = self.middleware.handle_oversized(sender, partial);
        out.apply(sender, verdict, Cow::Borrowed(&[]));
        out
    }

    /// Returns the number of pending client requests.
    pub fn pending_requests(&mut self) -> usize {
        self.middleware.pending_requests(Side::Client)
    }

    /// Returns whether calls are held until the tool list arrives.
    pub fn has_held_calls(&self) -> bool {
        !self.held.is_empty()
    }

    /// Frees caches and buffers of an idle connection. Session state, pending requests and held calls
    /// are kept.
    pub fn shrink(&mut self) {
        self.middleware.shrink();
        self.validation_cache.clear();
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); `None` if no timer is needed.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let deadlines = [self.held.deadline(), self.timeout_at];
        deadlines.into_iter().flatten().min()
    }

    /// Handles expired deadlines: forwards calls held for too long without checking them, and
    /// answers timed-out requests with an error.
    pub fn handle_timeout(&mut self, now: Duration) -> Actions<'static> {
        let mut out = Actions::default();
        if self.held.deadline().is_some_and(|deadline| deadline <= now) {
            self.gateway_requests.abandon(now);
            self.mark_unverified("the server did not list its tools in time", &mut out);
            self.release_held(now, &mut out);
        }
        self.expire_requests(now, &mut out);
        self.arm_timeout(now);
        out
    }

    /// Handles the loss of the server: answers every pending and held request with an error.
    pub fn server_gone(&mut self, code: Code, reason: &str, now: Duration) -> Actions<'static> {
        let mut out = Actions::default();
        self.gateway_requests.abandon(now);
        self.release_held(now, &mut out);
        out.drop_messages_to_server();
        for reply in self.middleware.abandon(Side::Client, code, reason) {
            out.reply(Side::Client, reply);
        }
        out
    }

    /// Handles a restarted server: marks the tool list as changed, resets the subscription and
    /// abandons the requests of the previous process.
    pub fn server_replaced(&mut self) {
        self.gateway_requests.clear_failure();
        self.subscription.reset();
        self.validator.cache().mark_changed(&self.server);
        self.middleware.abandon(Side::Server, Code::ServerGone, "the server was restarted");
    }

    /// Abandons a client request and returns the error for the client; `None` if it is not pending.
    pub fn abandon_request(&mut self, id: &RequestId, code: Code, reason: &str) -> Option<Reply> {
        self.middleware.abandon_one(Side::Client, id, code, reason)
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
        if let Some(failure) = self.gateway_requests.fail(id, reason) {
            self.advance_fetch(failure, 0, now, &mut out);
        } else if let Some(event) = self.subscription.fail(id, reason) {
            self.handle_subscription(event, &mut out);
        }
        out
    }

    /// Returns the revision that the peers agreed on or declared; `None` before that, and for an
    /// unknown revision.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.middleware.agreed_revision()
    }

    /// Returns whether the peers agreed on or declared a revision, known or unknown.
    pub fn is_revision_settled(&self) -> bool {
        self.middleware.is_revision_settled()
    }

    /// Returns the revision in use, or the default before the peers agree on one.
    pub fn revision(&self) -> Option<Revision> {
        self.middleware.revision()
    }

    /// Consumes a message that belongs to a gateway request or subscription; returns whether it did.
    fn handle_gateway_message(
        &mut self,
        message: &[u8],
        now: Duration,
        out: &mut Actions<'_>,
    ) -> bool {
        if let Some(reply) = self.gateway_requests.match_response(message) {
            self.handle_tool_list(&reply, now, out);
            return true;
        }
        let event = self.subscription.match_message(message);
        event.map(|event| self.handle_subscription(event, out)).is_some()
    }

    fn process_client_message<'m>(
        &mut self,
        message: Cow<'m, [u8]>,
        now: Duration,
        attempt: Attempt,
        out: &mut Actions<'m>,
    ) {
        if let Some(rejection) = self.check_param_headers(&message, now) {
            if attempt == Attempt::Initial && self.is_list_old(now) {
                return self.hold(message.into_owned(), now, out);
            }
            return out.apply(Side::Client, rejection.into(), message);
        }
        let before = self.middleware.started();
        let verdict = self.middleware.handle(Side::Client, &message, now);
        let was_started = self.middleware.started() != before;
        if attempt == Attempt::Initial
            && verdict.parts.is_empty()
            && depends_on_list(&verdict, was_started)
            && (self.is_list_old(now) || is_unknown_tool(&verdict) && self.can_fetch_tools(now))
        {
            self.rollback(&verdict);
            self.hold(message.into_owned(), now, out);
            return;
        }
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
        let verdict = self.middleware.handle(Side::Server, &message, now);
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
        if ended_handshake && !self.held.is_empty() {
            match self.middleware.server_has_tools() {
                Some(true) => self.fetch_tools(out),
                _ => self.release_held(now, out),
            }
        }
    }
}
