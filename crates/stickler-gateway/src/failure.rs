//! The error of a relay that cannot start or continue.

use std::fmt;
use std::io;

/// Why a relay cannot start or continue.
#[derive(Debug)]
pub enum Failure {
    /// The server cannot be started; holds the complete message.
    Unreachable(String),
    /// Communication with the client failed.
    Output(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(message) => formatter.write_str(message),
            Self::Output(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
