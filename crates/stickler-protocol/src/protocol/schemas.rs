//! All revisions, each with the schema it is to be read by.

use std::sync::OnceLock;

use super::{Revision, SchemaValidator};

/// The validators of all revisions: the built-in ones, or what was put in their place.
#[derive(Debug, Default)]
pub struct ProtocolSchemas([OnceLock<SchemaValidator>; Revision::ALL.len()]);

impl ProtocolSchemas {
    /// The built-in ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a validator in the place of the built-in one of its revision.
    #[must_use]
    pub fn with(mut self, validator: SchemaValidator) -> Self {
        if let Some(slot) = self.0.get_mut(validator.revision() as usize) {
            *slot = OnceLock::from(validator);
        }
        self
    }

    /// The validator of a revision.
    pub fn get(&self, revision: Revision) -> &SchemaValidator {
        // One slot for each revision: the index is its place in `Revision::ALL`.
        self.0[revision as usize].get_or_init(|| SchemaValidator::built_in(revision))
    }
}

#[cfg(test)]
mod tests {
    use super::ProtocolSchemas;
    use crate::protocol::{Revision, SchemaValidator};

    #[test]
    fn every_revision_has_its_place() {
        let schemas = ProtocolSchemas::new().with(SchemaValidator::built_in(Revision::LATEST));
        for (index, revision) in Revision::ALL.into_iter().enumerate() {
            assert_eq!(revision as usize, index);
            assert_eq!(schemas.get(revision).revision(), revision);
        }
    }
}
