//! A problem on the way to its sentence.
//!
//! Of a call with many problems few are shown, and which ones is known only when all are in order. So a
//! field that is not wanted is noted first, with what its sentence needs, and put into words only if it
//! is shown: looking for the name that was meant is the expensive part of an explanation.

use std::collections::HashSet;
use std::rc::Rc;

use super::error::{ValidationError, ValidationErrorKind};
use super::place::join;
use crate::tape::Node;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub(super) struct Problem<'e> {
    /// Without words where it is about a field that is not wanted.
    pub(super) error: ValidationError,
    pub(super) unwanted: Option<Unwanted<'e>>,
}

/// What the sentence about a field that is not wanted needs.
#[derive(Debug, Clone)]
pub(super) struct Unwanted<'e> {
    /// The object that the field is in.
    pub(super) object: Option<Node<'e>>,
    /// The names that a field may have there.
    pub(super) names: Rc<[&'e str]>,
    pub(super) form: Form,
}

/// Why the field is not wanted.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The schema does not list it.
    Unknown,
    /// Its own schema is `false`.
    Forbidden,
    /// Its name is not of the form that names have there; the demand follows "must".
    Misnamed { demand: String },
}

impl<'e> Problem<'e> {
    pub(super) fn unwanted(
        object_path: &str,
        field: &str,
        schema_path: String,
        unwanted: Unwanted<'e>,
    ) -> Self {
        let error = ValidationError {
            path: join(object_path, field),
            schema_path,
            kind: ValidationErrorKind::UnknownField {
                field: field.to_owned(),
                suggestions: Vec::new(),
            },
            message: String::new(),
            expected: String::new(),
            received: String::new(),
            meant_values: Vec::new(),
        };
        Self { error, unwanted: Some(unwanted) }
    }
}

impl From<ValidationError> for Problem<'_> {
    fn from(error: ValidationError) -> Self {
        Self { error, unwanted: None }
    }
}

/// One problem a mistake: a wrong type is not also a wrong value. In the order of the paths, so that
/// a misspelt field stands beside the one that is missing for it.
pub(super) fn tidy(problems: &mut Vec<Problem<'_>>) {
    let wrong_type: HashSet<String> = problems
        .iter()
        .filter(|one| matches!(one.error.kind, ValidationErrorKind::TypeMismatch { .. }))
        .map(|one| one.error.path.clone())
        .collect();
    problems.retain(|one| {
        !matches!(
            one.error.kind,
            ValidationErrorKind::InvalidEnum { .. } | ValidationErrorKind::InvalidValue { .. }
        ) || !wrong_type.contains(&one.error.path)
    });
    problems.sort_by(|a, b| {
        let parents = a.error.parent_path().cmp(b.error.parent_path());
        let ranks = || rank(&a.error.kind).cmp(&rank(&b.error.kind));
        parents.then_with(ranks).then_with(|| a.error.path.cmp(&b.error.path))
    });
    problems.dedup_by(|a, b| {
        a.error.path == b.error.path && a.error.kind.name() == b.error.kind.name()
    });
}

fn rank(kind: &ValidationErrorKind) -> u8 {
    match kind {
        ValidationErrorKind::UnknownTool { .. } => 0,
        ValidationErrorKind::UnknownField { .. } => 1,
        ValidationErrorKind::MissingRequired { .. } => 2,
        ValidationErrorKind::TypeMismatch { .. } => 3,
        ValidationErrorKind::InvalidEnum { .. } => 4,
        ValidationErrorKind::InvalidValue { .. } => 5,
    }
}
