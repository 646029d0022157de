//! The output of a connection: what its caller has to do, in order.
//!
//! An action carries what the connection knows about a message, so the caller never parses it to find out
//! where it belongs.

use std::borrow::Cow;
use std::sync::Arc;

use stickler::Discovery;

use super::inspect::forwarded_header;
use super::work::Work;
use crate::envelope::{Header, RequestId};
use crate::side::Side;
use crate::verdict::{Decision, Reply, Verdict};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action<'m> {
    /// Forward a message of the other side, unchanged or rewritten.
    Forward {
        /// The receiver.
        to: Side,
        /// The header of the message.
        header: Arc<Header>,
        /// The message; borrowed if it is the one that was handled.
        bytes: Cow<'m, [u8]>,
    },
    /// Send a response of the gateway to a message of this side.
    Reply {
        /// The receiver.
        to: Side,
        /// The response, with its id and error code in the header.
        reply: Reply,
    },
    /// Send a request of the gateway itself to the server.
    Request {
        /// What the request is for.
        purpose: Purpose,
        /// The header of the request.
        header: Arc<Header>,
        /// The request.
        bytes: Vec<u8>,
    },
    /// Cancel a request at the server, because it has timed out.
    Cancel {
        /// The header of the cancellation; `cancels` is the request.
        header: Arc<Header>,
        /// The cancellation.
        bytes: Vec<u8>,
    },
    /// Compile schemas and pass the outcome to [`handle_done`](super::Connection::handle_done).
    Compile {
        /// The work.
        work: Work,
    },
    /// Explain a large rejected call and pass the outcome to [`handle_done`](super::Connection::handle_done).
    Explain {
        /// The work.
        work: Work,
    },
    /// Nothing to send yet: the handled message is held until the tool list arrives or work is done. A later
    /// action forwards or answers it.
    Hold {
        /// The header of the message.
        header: Arc<Header>,
    },
    /// Nothing to send: the client cancelled a held request, which gets no response.
    Cancelled {
        /// The id of the request.
        id: RequestId,
    },
    /// Report an event.
    Event(Event),
}

/// What a gateway request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// `tools/list`, to learn the tools.
    ListTools,
    /// `server/discover`, to learn whether the server offers subscriptions.
    Discover,
    /// `subscriptions/listen`, to be notified of tool list changes. The request stays open.
    Subscribe,
}

/// An event for logs and metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A message was checked.
    Checked {
        /// The side that sent it.
        sender: Side,
        /// The verdict on it.
        verdict: Verdict,
    },
    /// The tool cache was filled from a tool list.
    ToolsLearned {
        /// The result of reading the list.
        discovery: Discovery,
    },
    /// The state of the gateway's subscription to tool list changes changed.
    Subscription {
        /// The new state, as a log message.
        status: String,
    },
    /// Calls are forwarded without validation for now.
    Degraded {
        /// Why the tool list is not available.
        reason: String,
    },
}

/// A list of actions, in order.
#[derive(Debug, Default)]
pub struct Actions<'m>(Vec<Action<'m>>);

impl<'m> Actions<'m> {
    pub(super) fn push(&mut self, action: Action<'m>) {
        self.0.push(action);
    }

    pub(super) fn event(&mut self, event: Event) {
        self.push(Action::Event(event));
    }

    pub(super) fn work(&mut self, work: Work) {
        let is_explanation = work.explains();
        self.push(if is_explanation { Action::Explain { work } } else { Action::Compile { work } });
    }

    pub(super) fn reply(&mut self, to: Side, reply: Reply) {
        self.push(Action::Reply { to, reply });
    }

    pub(super) fn extend(&mut self, actions: impl IntoIterator<Item = Action<'m>>) {
        self.0.extend(actions);
    }

    /// Removes the messages to a server that does not exist any more.
    pub(super) fn drop_messages_to_server(&mut self) {
        self.0.retain(|action| action.receiver() != Some(Side::Server));
    }

    /// Carries out the decision on a message and reports the verdict.
    pub(super) fn apply(&mut self, sender: Side, verdict: Verdict, message: Cow<'m, [u8]>) {
        self.send(sender, &verdict, message);
        self.event(Event::Checked { sender, verdict });
    }

    /// Carries out the decision on a message.
    pub(super) fn send(&mut self, sender: Side, verdict: &Verdict, message: Cow<'m, [u8]>) {
        let (forward, answer) = match &verdict.decision {
            Decision::Forward => (Some(message), None),
            Decision::Rewrite(bytes) => (Some(Cow::Owned(bytes.clone())), None),
            Decision::Answer(reply) => (None, Some(Reply::clone(reply))),
            Decision::Split { forward, answer } => {
                (Some(Cow::Owned(forward.clone())), Some(Reply::clone(answer)))
            }
            Decision::Drop => (None, None),
        };
        self.0.reserve(2);
        if let Some(bytes) = forward {
            let header = match verdict.parts.as_slice() {
                [] => Arc::clone(&verdict.header),
                parts => Arc::new(forwarded_header(parts)),
            };
            self.push(Action::Forward { to: sender.other(), header, bytes });
        }
        if let Some(reply) = answer {
            self.reply(sender, reply);
        }
    }
}

impl Action<'_> {
    pub(super) fn request(purpose: Purpose, header: Header, bytes: Vec<u8>) -> Self {
        Self::Request { purpose, header: Arc::new(header), bytes }
    }

    /// Returns the side that receives a message by this action; `None` if no message is sent.
    pub fn receiver(&self) -> Option<Side> {
        match self {
            Self::Forward { to, .. } | Self::Reply { to, .. } => Some(*to),
            Self::Request { .. } | Self::Cancel { .. } => Some(Side::Server),
            _ => None,
        }
    }

    /// Returns the header of the message that is sent, if any.
    pub fn header(&self) -> Option<&Header> {
        match self {
            Self::Forward { header, .. }
            | Self::Request { header, .. }
            | Self::Cancel { header, .. } => Some(header),
            Self::Reply { reply, .. } => Some(&reply.header),
            _ => None,
        }
    }

    /// Returns the message that is sent, if any.
    pub fn message(&self) -> Option<&[u8]> {
        match self {
            Self::Forward { bytes, .. } => Some(bytes),
            Self::Reply { reply, .. } => Some(&reply.bytes),
            Self::Request { bytes, .. } | Self::Cancel { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

impl<'m> std::ops::Deref for Actions<'m> {
    type Target = [Action<'m>];

    fn deref(&self) -> &[Action<'m>] {
        &self.0
    }
}

impl<'m> IntoIterator for Actions<'m> {
    type Item = Action<'m>;
    type IntoIter = std::vec::IntoIter<Action<'m>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, 'm> IntoIterator for &'a Actions<'m> {
    type Item = &'a Action<'m>;
    type IntoIter = std::slice::Iter<'a, Action<'m>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
