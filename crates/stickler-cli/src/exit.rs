//! Exit codes, defined once.

use std::io;
use std::process::ExitCode;

/// Exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: success.
    Success,
    /// 1: findings.
    Findings,
    /// 2: invalid usage, or unreadable input.
    Usage,
    /// 3: a server cannot be started or reached.
    Unreachable,
    /// Exit code of the server that the gateway ran.
    Server(i32),
}

impl Exit {
    /// Table for the help text.
    pub(crate) const TABLE: &'static str = "\
Exit codes:
  0  success
  1  findings
  2  invalid usage, or unreadable input
  3  a server cannot be started or reached
`run` exits with the exit code of its server.";
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            // Codes that do not fit into a byte must not become 0.
            Exit::Server(code) => u8::try_from(code).unwrap_or(1),
        })
    }
}

/// Failure of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid usage or input.
    Usage(String),
    /// A server cannot be started or reached.
    Unreachable(String),
    /// Output could not be written.
    Output(io::Error),
}

impl Failure {
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Usage(message) | Self::Unreachable(message) => Some(message.clone()),
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Output(error) => Some(format!("cannot write the output: {error}")),
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Self::Unreachable(_) => Exit::Unreachable,
            Self::Usage(_) | Self::Output(_) => Exit::Usage,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Result of a command.
pub(crate) type Outcome = Result<Exit, Failure>;
