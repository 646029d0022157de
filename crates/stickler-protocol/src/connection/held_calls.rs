//! Calls held until the tool list is known, in order of arrival.

use std::collections::VecDeque;
use std::time::Duration;

/// Queue of held messages with the deadline of the first.
#[derive(Debug, Default)]
pub(super) struct HeldCalls {
    messages: VecDeque<Vec<u8>>,
    deadline: Option<Duration>,
}

impl HeldCalls {
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

    /// Returns when the first held call has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(super) fn take(&mut self) -> VecDeque<Vec<u8>> {
        self.deadline = None;
        std::mem::take(&mut self.messages)
    }
}
