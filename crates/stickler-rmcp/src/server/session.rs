//! State of one session: how often which calls were rejected.

use stickler_protocol::RejectionCounts;

/// Counts the rejections of a session, for repeated calls and for the turn of an observation.
#[derive(Default)]
pub(crate) struct SessionState {
    counts: RejectionCounts,
    rejections: u64,
}

/// The place of a rejection in its session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    /// How often the same call was rejected, including this time.
    pub(crate) count: u32,
    /// The turn of the caller, or the number of rejections without one.
    pub(crate) turn: u64,
}

impl SessionState {
    /// Counts a rejection. `turn` is the turn that the caller sent.
    pub(crate) fn reject(&mut self, tool: &str, arguments: &str, turn: Option<u64>) -> Occurrence {
        let count = self.counts.count(tool, arguments);
        let turn = turn.unwrap_or_else(|| {
            self.rejections += 1;
            self.rejections
        });
        Occurrence { count, turn }
    }
}
