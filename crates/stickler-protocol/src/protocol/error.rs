//! Why a schema file cannot stand in for a revision.

use std::fmt;

use super::Revision;

/// One sentence that says what is wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolSchemaError {
    revision: Revision,
    reason: String,
}

impl ProtocolSchemaError {
    pub(super) fn new(revision: Revision, reason: impl Into<String>) -> Self {
        Self { revision, reason: reason.into() }
    }
}

impl fmt::Display for ProtocolSchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not usable as the schema of {}: {}", self.revision, self.reason)
    }
}

impl std::error::Error for ProtocolSchemaError {}
