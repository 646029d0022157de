//! Why a relay could not begin or go on.

use std::fmt;
use std::io;

/// Why a relay could not begin or go on.
#[derive(Debug)]
pub enum Failure {
    /// The server cannot be started; a sentence that says why.
    Unreachable(String),
    /// The client cannot be served.
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
