//! Error of loading an official schema file.

use std::fmt;

use super::Revision;

/// The reason why a schema file cannot be used, in one sentence.
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
