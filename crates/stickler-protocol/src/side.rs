//! The two ends of a connection.

use std::fmt;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The program that calls tools.
    Client,
    /// The program that provides tools.
    Server,
}

impl Side {
    /// Returns the opposite side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Returns `client` or `server`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// Returns the direction of its messages: `c2s` or `s2c`.
    pub fn direction(self) -> &'static str {
        match self {
            Self::Client => "c2s",
            Self::Server => "s2c",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Side;

    #[test]
    fn direction_names_sender_and_receiver() {
        for side in [Side::Client, Side::Server] {
            assert_ne!(side, side.other());
            assert_eq!(side, side.other().other());
            assert!(side.direction().starts_with(&side.as_str()[..1]));
            assert!(side.direction().ends_with(&side.other().as_str()[..1]));
        }
    }
}
