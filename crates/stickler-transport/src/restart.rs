//! Whether and when a server whose process has ended is started again.

use std::time::Duration;

/// What happens when a server's process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// When a new start is tried at all.
    pub when: RestartWhen,
    /// Before the first new start; it doubles with each.
    pub pause: Duration,
    /// How many new starts in a row may come to nothing.
    pub limit: u32,
}

impl Default for Restart {
    fn default() -> Self {
        Self { when: RestartWhen::Never, pause: Duration::from_secs(1), limit: 5 }
    }
}

/// When a server is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartWhen {
    /// Never: `run` ends with its server
    Never,
    /// After an exit code other than 0, or a signal
    OnFailure,
}
