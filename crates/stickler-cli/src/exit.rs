//! Exit codes, defined once.

use std::io;
use std::process::ExitCode;

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: all is well.
    Fine,
    /// 1: there are findings.
    Findings,
    /// 2: the command line is wrong, or an input cannot be read.
    Usage,
    /// 3: a server cannot be started or reached.
    Unreachable,
    /// The server's own exit code, for the gateway in front of it.
    Server(i32),
}

impl Exit {
    /// For the help text.
    pub(crate) const TABLE: &'static str = "\
Exit codes:
  0  all is well
  1  there are findings
  2  the command line is wrong, or an input cannot be read
  3  a server cannot be started or reached
`run` ends with the exit code of the server it ran.";
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            // What does not fit into a byte is at least not success.
            Exit::Server(code) => u8::try_from(code).unwrap_or(1),
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user has to change something.
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
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
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

/// How a command ends.
pub(crate) type Outcome = Result<Exit, Failure>;
