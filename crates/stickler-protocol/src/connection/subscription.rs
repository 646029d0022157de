//! The gateway's subscription to tool list changes, which the client never sees.
//!
//! Since 2026-07-28, servers notify only peers that hold a `subscriptions/listen` request open. A
//! server that has not announced whether it offers this is asked once, with `server/discover`. After
//! a rejection the gateway does not ask again; the tool list then only expires by age.

use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};

use super::capabilities::Capabilities;
use super::tool_fetch::modern_meta;
use super::{Action, Actions, Connection, Event, Purpose};
use crate::envelope::{Header, RequestId};
use crate::headers::SUBSCRIPTION_KEY;
use crate::protocol::{Era, Revision};
use crate::side::Side;

/// Prefix of the ids of subscription requests.
pub(super) const PREFIX: &str = "stickler:changes:";

/// State of the subscription with the current server process.
#[derive(Debug, Default)]
pub(super) struct Subscription {
    /// Number of the next request.
    number: u64,
    /// Revision of the first request; `None` before it was sent.
    revision: Option<Revision>,
    /// Id of the pending `server/discover` request.
    discovery: Option<String>,
    /// Id of the subscription, kept because the server may still refer to it after it ended.
    listening: Option<String>,
    is_requested: bool,
}

/// A server message about the subscription.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SubscriptionEvent {
    Offered,
    /// The subscription was acknowledged; `true` if it includes tool list changes.
    Open(bool),
    Changed,
    Ended,
    Rejected(String),
    Other,
}

impl Connection {
    /// Subscribes to tool list changes if the tools were learned on another connection. Returns
    /// nothing to send if the subscription was requested before.
    pub fn subscribe(&mut self) -> Actions<'static> {
        let mut out = Actions::default();
        out.extend(self.subscription_request());
        out
    }

    /// Returns whether the gateway's subscription was requested and not rejected.
    pub fn has_subscription(&self) -> bool {
        self.subscription.is_requested
    }

    /// Returns the first request of the subscription, once the tools are known and if it is possible.
    pub(super) fn subscription_request(&mut self) -> Option<Action<'static>> {
        let may_subscribe = self.settings.fetch_tools && self.settings.subscribe;
        if !may_subscribe || self.subscription.revision.is_some() {
            return None;
        }
        let revision = self.request_revision().filter(|one| one.era() == Era::Modern)?;
        if !self.validator.cache().is_populated(&self.server) {
            return None;
        }
        self.subscription.revision = Some(revision);
        let announced = self.lifecycle.announced(Side::Server);
        match announced.map(|announced| announced.has("tools.listChanged")) {
            Some(true) => Some(self.subscription.listen()),
            None => Some(self.subscription.discover()),
            Some(false) => None,
        }
    }

    pub(super) fn handle_subscription(&mut self, event: SubscriptionEvent, out: &mut Actions<'_>) {
        let mut report = |status: &str| {
            out.event(Event::Subscription { status: status.to_owned() });
        };
        match event {
            SubscriptionEvent::Offered => {
                out.push(self.subscription.listen());
            }
            SubscriptionEvent::Open(true) => {
                report("subscribed to tool list changes");
                // The server did not report changes between the list and the subscription.
                self.tools_changed();
            }
            SubscriptionEvent::Changed => {
                report("the server's tool list changed");
                self.tools_changed();
            }
            SubscriptionEvent::Open(false) => {
                report("the server does not notify of tool list changes");
            }
            SubscriptionEvent::Ended => report("the subscription to tool list changes ended"),
            SubscriptionEvent::Rejected(reason) => {
                report(&format!(
                    "the server rejected the subscription to tool list changes: {reason}"
                ));
            }
            SubscriptionEvent::Other => {}
        }
    }

    fn tools_changed(&mut self) {
        self.validator.cache().mark_changed(&self.server);
        self.validation_cache.clear();
    }
}

impl Subscription {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Resets the state for a restarted server.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.number);
    }

    fn discover(&mut self) -> Action<'static> {
        let (id, request) = self.request(Purpose::Discover, "server/discover", json!({}));
        self.discovery = Some(id);
        request
    }

    fn listen(&mut self) -> Action<'static> {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let (id, request) = self.request(Purpose::Subscribe, "subscriptions/listen", filter);
        self.listening = Some(id);
        self.is_requested = true;
        request
    }

    fn request(
        &mut self,
        purpose: Purpose,
        method: &'static str,
        mut params: Value,
    ) -> (String, Action<'static>) {
        let id = format!("{PREFIX}{}", self.number);
        self.number = self.number.wrapping_add(1);
        params["_meta"] = modern_meta(self.revision.unwrap_or(Revision::LATEST), None);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let header = Header::own(method, Some(RequestId::String(id.as_str().into())));
        (id, Action::request(purpose, header, request.to_string().into_bytes()))
    }

    /// Returns whether a request with this id waits for its response.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.discovery.as_deref() == Some(id)
    }

    /// Returns the event in a server message; `None` if the message is not about the subscription.
    pub(super) fn match_message(&mut self, message: &[u8]) -> Option<SubscriptionEvent> {
        if self.discovery.is_none() && self.listening.is_none() {
            return None;
        }
        memchr::memmem::find(message, PREFIX.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let root = tape.root();
        match root.get("method").and_then(Node::as_str) {
            Some(method) => self.notification(&method, root.get("params")?),
            None => self.response(root),
        }
    }

    fn notification(&mut self, method: &str, params: Node<'_>) -> Option<SubscriptionEvent> {
        let is_this_subscription = |id: Node<'_>| {
            let id = id.as_str();
            id.is_some() && id.as_deref() == self.listening.as_deref()
        };
        if method == "notifications/cancelled" {
            let is_cancelled = params.get("requestId").is_some_and(is_this_subscription);
            return is_cancelled.then_some(SubscriptionEvent::Ended);
        }
        params.get("_meta")?.get(SUBSCRIPTION_KEY).filter(|id| is_this_subscription(*id))?;
        Some(match method {
            "notifications/subscriptions/acknowledged" => {
                let granted = params.get("notifications");
                let granted = granted.and_then(|granted| granted.get("toolsListChanged"));
                SubscriptionEvent::Open(granted.and_then(Node::as_bool) == Some(true))
            }
            "notifications/tools/list_changed" => SubscriptionEvent::Changed,
            _ => SubscriptionEvent::Other,
        })
    }

    /// Ends the request with this id; `None` if it is not one of the subscription.
    pub(super) fn fail(&mut self, id: &str, reason: &str) -> Option<SubscriptionEvent> {
        let is_discovery = self.discovery.take_if(|pending| pending == id).is_some();
        if !is_discovery && self.listening.as_deref() != Some(id) {
            return None;
        }
        self.is_requested = false;
        Some(SubscriptionEvent::Rejected(reason.to_owned()))
    }

    fn response(&mut self, root: Node<'_>) -> Option<SubscriptionEvent> {
        let id = root.get("id").and_then(Node::as_str)?;
        let Some(result) = root.get("result") else {
            let reason = root.pointer("/error/message").and_then(Node::as_str);
            return self.fail(&id, reason.as_deref().unwrap_or("no reason given"));
        };
        let is_discovery = self.discovery.take_if(|pending| *pending == id).is_some();
        if !is_discovery && self.listening.as_deref() != Some(&*id) {
            return None;
        }
        if !is_discovery {
            return Some(SubscriptionEvent::Ended);
        }
        let offers = |announced| Capabilities::read(announced).has("tools.listChanged");
        let is_offered = result.get("capabilities").is_some_and(offers);
        Some(if is_offered { SubscriptionEvent::Offered } else { SubscriptionEvent::Other })
    }
}
