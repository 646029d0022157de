//! Whether somebody still waits for a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says to those who work for a call that nobody waits for it any more. That of nobody's call never
/// says so.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Held by whoever waits. When it is gone, they do so no longer.
    pub(crate) fn when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(self.clone())
    }
}

pub(crate) struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
