//! The published revisions of MCP.

use std::fmt;
use std::str::FromStr;

/// A revision, named by its date. Revisions are ordered by date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each variant is fully described by its date")]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// The two connection models of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// A handshake establishes a session: up to 2025-11-25.
    Legacy,
    /// Every request is self-contained: since 2026-07-28.
    Modern,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The latest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// Returns the name on the wire, such as `2025-11-25`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision with that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// Returns the connection model of the revision.
    pub fn era(self) -> Era {
        if self < Self::V2026_07_28 { Era::Legacy } else { Era::Modern }
    }

    /// Returns whether the revision supports JSON-RPC batches.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is not a published revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Revision::ALL.map(Revision::as_str).join(", ");
        write!(f, "`{}` is not an MCP revision; known revisions: {known}", self.0)
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
    fn every_revision_parses_from_its_name() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert_eq!(Revision::parse("2025-11-26"), None);
        let error = "newest".parse::<Revision>().unwrap_err().to_string();
        assert!(
            error.starts_with("`newest` is not an MCP revision; known revisions: 2024-11-05, ")
        );
    }

    #[test]
    fn revisions_are_sorted_by_date() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.map(Revision::as_str).is_sorted());
        assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    }

    #[test]
    fn only_2026_07_28_is_modern_and_only_2025_03_26_has_batches() {
        let modern = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern);
        assert_eq!(modern.collect::<Vec<_>>(), [Revision::V2026_07_28]);
        let batches = Revision::ALL.into_iter().filter(|revision| revision.has_batches());
        assert_eq!(batches.collect::<Vec<_>>(), [Revision::V2025_03_26]);
    }
}
