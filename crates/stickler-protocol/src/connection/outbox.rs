//! The output of a connection: messages to send and events to report.

use std::borrow::Cow;

use stickler::Discovery;

use crate::side::Side;
use crate::verdict::{Decision, Verdict};

/// Messages for both sides, in order, and events for the observer.
#[derive(Debug, Default)]
pub struct Outbox<'m> {
    /// Messages to send to the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// Messages to send to the server.
    pub to_server: Vec<Cow<'m, [u8]>>,
    /// Events to report.
    pub events: Vec<Event>,
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

impl<'m> Outbox<'m> {
    /// Sends a message according to its verdict and reports the verdict.
    pub(super) fn apply(&mut self, sender: Side, verdict: Verdict, message: Cow<'m, [u8]>) {
        self.send(sender, &verdict.decision, message);
        self.events.push(Event::Checked { sender, verdict });
    }

    /// Sends a message according to a decision.
    pub(super) fn send(&mut self, sender: Side, decision: &Decision, message: Cow<'m, [u8]>) {
        let (forward, answer) = match decision {
            Decision::Forward => (Some(message), None),
            Decision::Rewrite(bytes) => (Some(Cow::Owned(bytes.clone())), None),
            Decision::Answer(bytes) => (None, Some(bytes.clone())),
            Decision::Split { forward, answer } => {
                (Some(Cow::Owned(forward.clone())), Some(answer.clone()))
            }
            Decision::Drop => (None, None),
        };
        let (onward, back) = match sender {
            Side::Client => (&mut self.to_server, &mut self.to_client),
            Side::Server => (&mut self.to_client, &mut self.to_server),
        };
        onward.extend(forward);
        back.extend(answer.map(Cow::Owned));
    }
}
