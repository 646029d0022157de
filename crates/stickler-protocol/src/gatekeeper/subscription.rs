//! Our own subscription to changes of the server's tools, which the client never sees.
//!
//! Since 2026-07-28 a server tells only those of a change who hold `subscriptions/listen` open. A
//! server that is not known to offer this is asked once, by `server/discover`; one that refuses is
//! not asked again, and the list is then kept fresh by its age alone.

use std::borrow::Cow;

use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};

use super::own::modern_meta;
use super::{Event, Gatekeeper, Outbox};
use crate::envelope::Address;
use crate::headers::SUBSCRIPTION_KEY;
use crate::protocol::{Era, Revision};
use crate::session::Capabilities;

/// What our ids begin with.
pub(super) const PREFIX: &str = "stickler:changes:";

const LISTEN: &str = "subscriptions/listen";

/// How far it has come with the server that there is now.
#[derive(Debug, Default)]
pub(super) struct Subscription {
    /// The number of the next question.
    number: u64,
    /// The revision in which the server was asked; `None` before.
    revision: Option<Revision>,
    /// The id of the question whether the server offers it.
    discovery: Option<String>,
    /// The id of the subscription, for as long as the server may speak of it.
    listening: Option<String>,
    is_wanted: bool,
}

/// What the server has said to us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    Offered,
    /// It is open, for changes of tools or not.
    Open(bool),
    Changed,
    Ended,
    Refused(String),
    Other,
}

impl Gatekeeper {
    /// Subscribes to changes of the server's tools, which somebody else has learnt: for a gatekeeper
    /// that does nothing else. Does nothing the second time.
    pub fn subscribe(&mut self) -> Outbox<'static> {
        let request = self.request_for_changes().map(Cow::Owned);
        Outbox { to_server: request.into_iter().collect(), ..Outbox::default() }
    }

    /// Whether a subscription of our own is to be kept open: it was asked for, and not refused.
    pub fn wants_subscription(&self) -> bool {
        self.subscription.is_wanted
    }

    /// The first request towards a subscription, once the tools are known and where it is possible.
    pub(super) fn request_for_changes(&mut self) -> Option<Vec<u8>> {
        let may_ask = self.settings.learns && self.settings.subscribes;
        if !may_ask || self.subscription.revision.is_some() {
            return None;
        }
        let revision = self.own_revision().filter(|one| one.era() == Era::Modern)?;
        if !self.validator.cache().knows(&self.server) {
            return None;
        }
        self.subscription.revision = Some(revision);
        match self.middleware.server_tells_of_changes() {
            Some(true) => Some(self.subscription.listen()),
            None => Some(self.subscription.discover()),
            Some(false) => None,
        }
    }

    pub(super) fn heed(&mut self, news: News, out: &mut Outbox<'_>) {
        let mut tell = |news: &str| {
            out.events.push(Event::Subscription { news: news.to_owned() });
        };
        match news {
            News::Offered => out.to_server.push(Cow::Owned(self.subscription.listen())),
            News::Open(true) => {
                tell("the server will tell when its tools change");
                // Of what happened between the list and this moment it has told nobody.
                self.tools_changed();
            }
            News::Changed => {
                tell("the server's tools have changed");
                self.tools_changed();
            }
            News::Open(false) => tell("the server will not tell when its tools change"),
            News::Ended => tell("the server will not tell any more when its tools change"),
            News::Refused(reason) => {
                tell(&format!("the server does not tell when its tools change: {reason}"));
            }
            News::Other => {}
        }
    }

    fn tools_changed(&mut self) {
        self.validator.cache().mark_changed(&self.server);
        self.answers.forget();
    }
}

impl Subscription {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Another server has taken the place of the one that was asked.
    pub(super) fn renew(&mut self) {
        *self = Self::new(self.number);
    }

    fn discover(&mut self) -> Vec<u8> {
        let (id, request) = self.request("server/discover", json!({}));
        self.discovery = Some(id);
        request
    }

    fn listen(&mut self) -> Vec<u8> {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let (id, request) = self.request(LISTEN, filter);
        self.listening = Some(id);
        self.is_wanted = true;
        request
    }

    fn request(&mut self, method: &str, mut params: Value) -> (String, Vec<u8>) {
        let id = format!("{PREFIX}{}", self.number);
        self.number = self.number.wrapping_add(1);
        params["_meta"] = modern_meta(self.revision.unwrap_or(Revision::LATEST), None);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, request.to_string().into_bytes())
    }

    /// What a message of the server's says to us; `None` when it is for somebody else.
    pub(super) fn recognise(&mut self, message: &[u8]) -> Option<News> {
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

    fn notification(&mut self, method: &str, params: Node<'_>) -> Option<News> {
        let is_ours = |id: Node<'_>| {
            let id = id.as_str();
            id.is_some() && id.as_deref() == self.listening.as_deref()
        };
        if method == "notifications/cancelled" {
            let is_cancelled = params.get("requestId").is_some_and(is_ours);
            return is_cancelled.then_some(News::Ended);
        }
        params.get("_meta")?.get(SUBSCRIPTION_KEY).filter(|id| is_ours(*id))?;
        Some(match method {
            "notifications/subscriptions/acknowledged" => {
                let granted = params.get("notifications");
                let granted = granted.and_then(|granted| granted.get("toolsListChanged"));
                News::Open(granted.and_then(Node::as_bool) == Some(true))
            }
            "notifications/tools/list_changed" => News::Changed,
            _ => News::Other,
        })
    }

    fn response(&mut self, root: Node<'_>) -> Option<News> {
        let id = root.get("id").and_then(Node::as_str)?;
        let is_discovery = self.discovery.take_if(|own| *own == id).is_some();
        if !is_discovery && self.listening.as_deref() != Some(&*id) {
            return None;
        }
        let Some(result) = root.get("result") else {
            self.is_wanted = false;
            let reason = root.pointer("/error/message").and_then(Node::as_str);
            return Some(News::Refused(reason.as_deref().unwrap_or("no reason given").to_owned()));
        };
        if !is_discovery {
            return Some(News::Ended);
        }
        let offers = |announced| Capabilities::read(announced).has("tools.listChanged");
        let is_offered = result.get("capabilities").is_some_and(offers);
        Some(if is_offered { News::Offered } else { News::Other })
    }
}

/// Whether a message opens a subscription of our own, which lasts until somebody ends it.
pub fn is_own_subscription(message: &[u8]) -> bool {
    let address = Address::of(message);
    let text = |span: Option<std::ops::Range<usize>>| message.get(span?);
    text(address.method) == Some(LISTEN.as_bytes())
        && text(address.id).is_some_and(|id| id.starts_with(format!("\"{PREFIX}").as_bytes()))
}
