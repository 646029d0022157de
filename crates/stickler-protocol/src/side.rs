//! The two ends of a connection.

use std::fmt;

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The program that uses tools.
    Client,
    /// The program that has them.
    Server,
}

impl Side {
    /// The one who receives.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// `client` or `server`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The way of what it sends: `c2s` or `s2c`.
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
    fn each_side_faces_the_other() {
        for side in [Side::Client, Side::Server] {
            assert_ne!(side, side.other());
            assert_eq!(side, side.other().other());
            assert!(side.direction().starts_with(&side.as_str()[..1]));
            assert!(side.direction().ends_with(&side.other().as_str()[..1]));
        }
    }
}
