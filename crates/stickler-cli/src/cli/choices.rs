//! Choices of `stickler run`, as the command line, the environment and files name them.

use clap::ValueEnum;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Nothing
    Off,
    /// What was refused, and what the server does wrong
    Warn,
    /// Notes too
    Info,
    /// Every message
    Debug,
}

#[cfg(feature = "run")]
impl From<Level> for stickler_gateway::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::Off,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
        }
    }
}

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
