//! Enumerated settings of `stickler run`, shared by command line, environment and configuration files.

use clap::ValueEnum;

/// Restart policy of a server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestartWhen {
    /// Never: `run` exits when its server exits
    Never,
    /// After an exit code other than 0, or a signal
    OnFailure,
}

impl From<RestartWhen> for stickler_transport::RestartWhen {
    fn from(when: RestartWhen) -> Self {
        match when {
            RestartWhen::Never => Self::Never,
            RestartWhen::OnFailure => Self::OnFailure,
        }
    }
}
