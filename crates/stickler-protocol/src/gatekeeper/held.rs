//! Calls that wait until the tools are known.

use std::collections::VecDeque;
use std::time::Duration;

/// Messages in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Held {
    messages: VecDeque<Vec<u8>>,
    deadline: Option<Duration>,
}

impl Held {
    pub(super) fn push(&mut self, message: Vec<u8>, deadline: Duration) {
        self.messages.push_back(message);
        self.deadline.get_or_insert(deadline);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn first(&self) -> Option<&[u8]> {
        self.messages.front().map(Vec::as_slice)
    }

    /// When the first of them has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(super) fn take(&mut self) -> VecDeque<Vec<u8>> {
        self.deadline = None;
        std::mem::take(&mut self.messages)
    }
}
