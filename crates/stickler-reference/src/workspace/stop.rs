//! Cancellation flag of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals the blocking work of a call that the call was cancelled. The default is never set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a guard that sets the flag when it is dropped.
    pub(crate) fn set_when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(self.clone())
    }
}

pub(crate) struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
