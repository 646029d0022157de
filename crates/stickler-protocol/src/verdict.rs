//! The verdict on a message: the decision and the findings, as plain data for renderers and observers.

use stickler::Edit;
pub use stickler::Finding;

use crate::envelope::RequestId;

/// The outcome for one message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the message is forwarded, rewritten, answered or dropped.
    pub decision: Decision,
    /// The rule violations found in the message.
    pub findings: Vec<Finding>,
    /// The edits made to the arguments of a repaired call, without values.
    pub edits: Vec<Edit>,
    /// What the message refers to.
    pub subject: Subject,
    /// The messages of a batch, in order; `decision` combines their decisions.
    pub parts: Vec<Part>,
}

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Whether the message is forwarded, rewritten, answered or dropped.
    pub decision: Decision,
    /// What the message refers to.
    pub subject: Subject,
}

/// The action to take on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Forward the original bytes.
    Forward,
    /// Forward these bytes instead.
    Rewrite(Vec<u8>),
    /// Send these bytes back to the sender and forward nothing.
    Answer(Vec<u8>),
    /// Forward some messages of a batch and answer the others.
    Split {
        /// The batch to forward.
        forward: Vec<u8>,
        /// The batch to send back to the sender.
        answer: Vec<u8>,
    },
    /// Forward nothing and answer nothing.
    Drop,
}

/// What a message refers to, as far as it could be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Subject {
    /// The method; for a response, the method of its request.
    pub method: Option<String>,
    /// The id, if it is a valid one.
    pub id: Option<RequestId>,
    /// The name of the called tool.
    pub tool: Option<String>,
}

impl Verdict {
    /// Returns whether the message is forwarded unchanged.
    pub fn is_forward(&self) -> bool {
        self.decision == Decision::Forward
    }
}
