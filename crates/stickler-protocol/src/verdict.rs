//! The verdict on a message: the decision and the findings, as plain data for renderers and observers.

use std::ops::Deref;
use std::sync::Arc;

use stickler::Edit;
pub use stickler::Finding;

use crate::envelope::Header;

/// The outcome for one message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the message is forwarded, rewritten, answered or dropped.
    pub decision: Decision,
    /// The rule violations found in the message.
    pub findings: Vec<Finding>,
    /// In the mode `observe`: the message is forwarded, but would be rejected otherwise.
    pub would_reject: bool,
    /// The edits made to the arguments of a repaired call, without values.
    pub edits: Vec<Edit>,
    /// Kind, id and method of the message.
    pub header: Arc<Header>,
    /// The messages of a batch, in order; `decision` combines their decisions.
    pub parts: Vec<Part>,
}

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Whether the message is forwarded, rewritten, answered or dropped.
    pub decision: Decision,
    /// Kind, id and method of the message.
    pub header: Arc<Header>,
}

/// The action to take on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Forward the original bytes.
    Forward,
    /// Forward these bytes instead.
    Rewrite(Vec<u8>),
    /// Send this response back to the sender and forward nothing.
    Answer(Box<Reply>),
    /// Forward some messages of a batch and answer the others.
    Split {
        /// The batch to forward.
        forward: Vec<u8>,
        /// The batch to send back to the sender.
        answer: Box<Reply>,
    },
    /// Forward nothing and answer nothing.
    Drop,
}

/// A response that is sent back to the sender of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The id of the request, and the code if the response is an error.
    pub header: Arc<Header>,
    /// The response.
    pub bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(header: Header, bytes: Vec<u8>) -> Self {
        Self { header: Arc::new(header), bytes }
    }
}

impl Deref for Reply {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Verdict {
    /// Returns whether the message is forwarded unchanged.
    pub fn is_forward(&self) -> bool {
        self.decision == Decision::Forward
    }
}
