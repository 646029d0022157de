//! What is to be sent, and what is to be told.

use std::borrow::Cow;

use stickler::Discovery;

use crate::side::Side;
use crate::verdict::{Decision, Verdict};

/// Messages for either side, in their order, and events for whoever observes.
#[derive(Debug, Default)]
pub struct Outbox<'m> {
    /// For the client.
    pub to_client: Vec<Cow<'m, [u8]>>,
    /// For the server.
    pub to_server: Vec<Cow<'m, [u8]>>,
    /// For the observer.
    pub events: Vec<Event>,
}

/// Something that an observer may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A message was judged.
    Judged {
        /// Who sent it.
        sender: Side,
        /// What came of it.
        verdict: Verdict,
    },
    /// The server's tools were learnt.
    Learnt {
        /// What came of it.
        discovery: Discovery,
    },
    /// Something about our own subscription to changes of the server's tools.
    Subscription {
        /// What there is to say.
        news: String,
    },
    /// Calls go on unchecked for now.
    Degraded {
        /// Why.
        reason: String,
    },
}

impl<'m> Outbox<'m> {
    /// Sends a message where its verdict says, and tells of it.
    pub(super) fn settle(&mut self, sender: Side, verdict: Verdict, message: Cow<'m, [u8]>) {
        self.send(sender, &verdict.decision, message);
        self.events.push(Event::Judged { sender, verdict });
    }

    /// Sends a message where a decision says.
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
