//! What is to happen to a message, and why: plain data that renderers and observers read.

use stickler::Edit;
pub use stickler::Finding;

use crate::envelope::RequestId;

/// The outcome for one message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What is to happen to it.
    pub decision: Decision,
    /// What there is to say about it.
    pub findings: Vec<Finding>,
    /// What was changed in the arguments of a call that was repaired, values left out.
    pub edits: Vec<Edit>,
    /// What it is about.
    pub subject: Subject,
    /// The messages of a batch, in their order; the decision is what all of theirs come to.
    pub parts: Vec<Part>,
}

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// What is to happen to it.
    pub decision: Decision,
    /// What it is about.
    pub subject: Subject,
}

/// What is to happen to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It goes on, as the bytes that came.
    Forward,
    /// These bytes go on in its place.
    Rewrite(Vec<u8>),
    /// These bytes go back to its sender; nothing goes on.
    Answer(Vec<u8>),
    /// Some messages of a batch go on, the others are answered.
    Split {
        /// What goes on.
        forward: Vec<u8>,
        /// What goes back to the sender.
        answer: Vec<u8>,
    },
    /// Nothing goes on and nothing goes back.
    Drop,
}

/// What a message is about, as far as it could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Subject {
    /// The method; for a response, that of its request.
    pub method: Option<String>,
    /// The id, as far as it is one.
    pub id: Option<RequestId>,
    /// The tool that is called.
    pub tool: Option<String>,
}

impl Verdict {
    /// Whether the message goes on untouched.
    pub fn is_forward(&self) -> bool {
        self.decision == Decision::Forward
    }
}
