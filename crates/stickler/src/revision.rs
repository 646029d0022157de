//! The published revisions of MCP.

use std::fmt;
use std::str::FromStr;

/// A revision, named by its date. Later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the dates are all there is to say")]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// The two ways in which a connection works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// A handshake, then a session: up to 2025-11-25.
    Legacy,
    /// Every request speaks for itself: from 2026-07-28 on.
    Modern,
}

impl Revision {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest.
    pub const LATEST: Self = Self::V2026_07_28;

    /// As it is written on the wire: `2025-11-25`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// How connections work in it.
    pub fn era(self) -> Era {
        if self < Self::V2026_07_28 { Era::Legacy } else { Era::Modern }
    }

    /// Whether several messages may be sent as one array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no revision has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Revision::ALL.map(Revision::as_str).join(", ");
        write!(f, "`{}` is not a revision of MCP; there are {known}", self.0)
    }
}

impl std::error::Error for UnknownRevision {}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(name: &str) -> Result<Self, UnknownRevision> {
        Self::parse(name).ok_or_else(|| UnknownRevision(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Era, Revision};

    #[test]
    fn names_and_revisions_lead_to_each_other() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert_eq!(Revision::parse("2025-11-26"), None);
        let refusal = "newest".parse::<Revision>().unwrap_err().to_string();
        assert!(refusal.starts_with("`newest` is not a revision of MCP; there are 2024-11-05, "));
    }

    #[test]
    fn they_stand_in_the_order_of_their_dates() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.map(Revision::as_str).is_sorted());
        assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    }

    #[test]
    fn one_is_modern_and_one_has_batches() {
        let modern = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern);
        assert_eq!(modern.collect::<Vec<_>>(), [Revision::V2026_07_28]);
        let batches = Revision::ALL.into_iter().filter(|revision| revision.has_batches());
        assert_eq!(batches.collect::<Vec<_>>(), [Revision::V2025_03_26]);
    }
}
