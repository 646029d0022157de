//! Errors about fields that an object must not have, with the names that were probably meant.
//!
//! Contract: the names that were probably meant come from [`field_matches`](super::field_matches); a
//! message is written only for an error that is shown.

use std::rc::Rc;

use jsonschema::error::ValidationErrorKind as Engine;
use serde_json::Value;

use super::describe;
use super::error::{ValidationError, ValidationErrorKind};
use super::explain::{EngineError, Explainer, parent};
use super::field_matches::FieldMatches;
use super::phrases::text_of;
use super::problem::{Problem, Reason, UnexpectedField};
use crate::schema::NodeId;

impl<'e> Explainer<'e> {
    /// Returns the problem of a field with the schema `false`.
    pub(super) fn forbidden_field(
        &self,
        object_path: &str,
        field: &str,
        schema_path: String,
    ) -> Problem<'e> {
        // The field's schema is in `properties` or a similar keyword of the object's schema.
        let names = self.names_around(parent(&schema_path));
        let object = self.value(object_path);
        let unexpected_field = UnexpectedField { object, names, reason: Reason::Forbidden };
        Problem::unexpected_field(object_path, field, schema_path, unexpected_field)
    }

    /// Returns the problem of a field with a name that `propertyNames` rejects.
    pub(super) fn misnamed_field(
        &self,
        object_path: &str,
        schema_path: String,
        error: &EngineError<'_>,
    ) -> Problem<'e> {
        let field = text_of(error.instance());
        let (names, reason) = match error.kind() {
            Engine::Enum { .. } => {
                let options = self.schema.at(error.schema_path().as_str());
                let options = options.and_then(Value::as_array).into_iter().flatten();
                (options.filter_map(Value::as_str).collect(), Reason::Unknown)
            }
            Engine::FalseSchema => (Rc::from([]), Reason::Unknown),
            other => {
                let reason = Reason::InvalidName { requirement: describe::constraint(other) };
                (self.names_around(&schema_path), reason)
            }
        };
        let unexpected_field = UnexpectedField { object: self.value(object_path), names, reason };
        Problem::unexpected_field(object_path, &field, schema_path, unexpected_field)
    }

    /// Converts problems to errors; only the first `shown` get a complete message.
    pub(super) fn to_errors(
        &self,
        problems: Vec<Problem<'e>>,
        shown: usize,
        matches: &FieldMatches,
    ) -> Vec<ValidationError> {
        let indexed = problems.into_iter().enumerate();
        let errors =
            indexed.map(|(index, Problem { error, unexpected_field })| match unexpected_field {
                Some(field) if index < shown => self.unexpected_field_error(error, &field, matches),
                _ => error,
            });
        errors.collect()
    }

    fn unexpected_field_error(
        &self,
        error: ValidationError,
        unexpected_field: &UnexpectedField<'e>,
        matches: &FieldMatches,
    ) -> ValidationError {
        let ValidationErrorKind::UnknownField { field, .. } = &error.kind else { return error };
        let UnexpectedField { names, reason, .. } = unexpected_field;
        let (object_path, location) = (error.parent_path(), error.schema_path.clone());
        let found = matches.get(&error.path).cloned().unwrap_or_default();
        match reason {
            Reason::Unknown => {
                self.wording.unknown_field(object_path, field, location, &found, names)
            }
            Reason::Forbidden => {
                self.wording.forbidden_field(object_path, field, location, &found, names)
            }
            Reason::InvalidName { requirement } => {
                self.wording.misnamed_field(object_path, field, location, &found, requirement)
            }
        }
    }

    /// Returns the names that the subschema around a keyword lists, including those of subschemas that
    /// apply to the same location.
    pub(super) fn names_around(&self, keyword_path: &str) -> Rc<[&'e str]> {
        match self.schema.graph.at(parent(keyword_path)) {
            Some(node) => self.names_of(&[node]),
            None => Rc::from([]),
        }
    }

    /// Returns the names that the subschemas list for one location. Results are cached.
    pub(super) fn names_of(&self, nodes: &[NodeId]) -> Rc<[&'e str]> {
        if let Some(names) = self.names.borrow().get(nodes) {
            return Rc::clone(names);
        }
        let names: Rc<[&'e str]> = describe::names(self.schema, nodes).into();
        self.names.borrow_mut().insert(nodes.to_vec(), Rc::clone(&names));
        names
    }
}
