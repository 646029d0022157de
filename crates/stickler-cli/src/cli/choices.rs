//! Choices of `stickler run`, as the command line, the environment and files name them.

use clap::ValueEnum;

/// When a server is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestartWhen {
    /// Never: `run` ends with its server
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
