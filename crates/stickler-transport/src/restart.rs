//! Restart policy for server processes.

use std::time::Duration;

/// The restart policy of a server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// The exits after which the server is restarted.
    pub when: RestartWhen,
    /// Delay before the first restart; it doubles with each failure.
    pub pause: Duration,
    /// Maximum number of consecutive failed restarts.
    pub limit: u32,
}

impl Default for Restart {
    fn default() -> Self {
        Self { when: RestartWhen::Never, pause: Duration::from_secs(1), limit: 5 }
    }
}

/// The exits after which a server is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartWhen {
    /// Never: `run` ends with its server
    Never,
    /// After an exit code other than 0, or a signal
    OnFailure,
}
