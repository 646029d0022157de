//! Fields that are not wanted: why, and which ones were meant.
//!
//! Contract: the fields of a call are compared with the names that they may have meant within the
//! bounds of its [`Effort`](super::effort::Effort), and only if they are shown.

use std::rc::Rc;

use jsonschema::error::ValidationErrorKind as Engine;
use serde_json::Value;

use super::describe;
use super::error::{ValidationError, ValidationErrorKind};
use super::explain::{EngineError, Explainer, parent};
use super::problem::{Form, Problem, Unwanted};
use super::wording::text_of;
use crate::schema::NodeId;
use crate::suggest;

impl<'e> Explainer<'e> {
    /// A field whose own schema is `false`.
    pub(super) fn forbidden_field(
        &self,
        object_path: &str,
        field: &str,
        schema_path: String,
    ) -> Problem<'e> {
        // The field's schema stands in `properties` or the like, and that in the object's.
        let names = self.names_around(parent(&schema_path));
        let object = self.value(object_path);
        let unwanted = Unwanted { object, names, form: Form::Forbidden };
        Problem::unwanted(object_path, field, schema_path, unwanted)
    }

    /// A field whose name `propertyNames` does not accept.
    pub(super) fn misnamed_field(
        &self,
        object_path: &str,
        schema_path: String,
        error: &EngineError<'_>,
    ) -> Problem<'e> {
        let field = text_of(error.instance());
        let (names, form) = match error.kind() {
            Engine::Enum { .. } => {
                let options = self.schema.at(error.schema_path().as_str());
                let options = options.and_then(Value::as_array).into_iter().flatten();
                (options.filter_map(Value::as_str).collect(), Form::Unknown)
            }
            Engine::FalseSchema => (Rc::from([]), Form::Unknown),
            other => {
                let form = Form::Misnamed { demand: describe::constraint(other) };
                (self.names_around(&schema_path), form)
            }
        };
        let unwanted = Unwanted { object: self.value(object_path), names, form };
        Problem::unwanted(object_path, &field, schema_path, unwanted)
    }

    /// The problems as errors; the first `shown` have their sentences.
    pub(super) fn in_words(
        &self,
        problems: Vec<Problem<'e>>,
        shown: usize,
    ) -> Vec<ValidationError> {
        let places = problems.into_iter().enumerate();
        let errors = places.map(|(place, Problem { error, unwanted })| match unwanted {
            Some(unwanted) if place < shown => self.unwanted_field(error, &unwanted),
            _ => error,
        });
        errors.collect()
    }

    fn unwanted_field(&self, error: ValidationError, unwanted: &Unwanted<'e>) -> ValidationError {
        let ValidationErrorKind::UnknownField { field, .. } = &error.kind else { return error };
        let Unwanted { object, names, form } = unwanted;
        // A name that the object has already was not meant.
        let is_free = |name: &str| object.is_none_or(|it| self.lookup.get(it, name).is_none());
        let scoring = &self.effort.names;
        let nearest = suggest::nearest_of(field, names, is_free, self.distance, scoring);
        let meant = nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect();
        let (object_path, place) = (error.parent_path(), error.schema_path.clone());
        match form {
            Form::Unknown => self.wording.unknown_field(object_path, field, place, meant, names),
            Form::Forbidden => {
                self.wording.forbidden_field(object_path, field, place, meant, names)
            }
            Form::Misnamed { demand } => {
                self.wording.misnamed_field(object_path, field, place, meant, demand)
            }
        }
    }

    /// The names that the subschema around a keyword lists, with those of the subschemas that apply
    /// to the same place.
    pub(super) fn names_around(&self, keyword_path: &str) -> Rc<[&'e str]> {
        match self.schema.graph.at(parent(keyword_path)) {
            Some(node) => self.names_of(&[node]),
            None => Rc::from([]),
        }
    }

    /// The names that subschemas list for one place.
    pub(super) fn names_of(&self, nodes: &[NodeId]) -> Rc<[&'e str]> {
        if let Some(names) = self.names.borrow().get(nodes) {
            return Rc::clone(names);
        }
        let names: Rc<[&'e str]> = describe::names(self.schema, nodes).into();
        self.names.borrow_mut().insert(nodes.to_vec(), Rc::clone(&names));
        names
    }
}
