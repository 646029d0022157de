//! Threads of retries: calls of the same tool that follow a rejected or failed one.

use std::collections::HashMap;

/// Time after which a call of the same tool no longer counts as a retry.
const RETRY_WINDOW_MS: u32 = 10 * 60 * 1000;

/// The open threads of a session.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// First row of the thread and time of the last failed attempt, by tool.
    open: HashMap<u16, (u32, u32)>,
}

impl Threads {
    /// Returns the first row of the thread that a call of the tool continues.
    pub(crate) fn head_for(&mut self, tool: u16, milliseconds: u32) -> Option<u32> {
        let (head, failed_at) = *self.open.get(&tool)?;
        if milliseconds.saturating_sub(failed_at) > RETRY_WINDOW_MS {
            self.open.remove(&tool);
            return None;
        }
        Some(head)
    }

    /// Opens or continues a thread after a failed attempt, for its tool and the one that was probably meant.
    pub(crate) fn open(&mut self, head: u32, tools: [Option<u16>; 2], milliseconds: u32) {
        for tool in tools.into_iter().flatten() {
            self.open.insert(tool, (head, milliseconds));
        }
    }

    /// Closes the thread of a tool after an attempt that succeeded.
    pub(crate) fn close(&mut self, tool: u16, head: u32) {
        if self.open.get(&tool).is_some_and(|open| open.0 == head) {
            self.open.retain(|_, open| open.0 != head);
        }
    }
}
