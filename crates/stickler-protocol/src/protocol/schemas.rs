//! The validators of all revisions.

use std::sync::OnceLock;

use super::{Revision, SchemaValidator};

/// The validators of all revisions, built in or replaced.
#[derive(Debug, Default)]
pub struct ProtocolSchemas([OnceLock<SchemaValidator>; Revision::ALL.len()]);

impl ProtocolSchemas {
    /// Creates the built-in validators.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the validator of a revision.
    #[must_use]
    pub fn with(mut self, validator: SchemaValidator) -> Self {
        if let Some(slot) = self.0.get_mut(validator.revision() as usize) {
            *slot = OnceLock::from(validator);
        }
        self
    }

    /// Returns the validator of a revision.
    pub fn get(&self, revision: Revision) -> &SchemaValidator {
        // Indexed like `Revision::ALL`.
        self.0[revision as usize].get_or_init(|| SchemaValidator::built_in(revision))
    }
}

#[cfg(test)]
mod tests {
    use super::ProtocolSchemas;
    use crate::protocol::{Revision, SchemaValidator};

    #[test]
    fn every_revision_has_a_validator() {
        let schemas = ProtocolSchemas::new().with(SchemaValidator::built_in(Revision::LATEST));
        for (index, revision) in Revision::ALL.into_iter().enumerate() {
            assert_eq!(revision as usize, index);
            assert_eq!(schemas.get(revision).revision(), revision);
        }
    }
}
