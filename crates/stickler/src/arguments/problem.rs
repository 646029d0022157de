//! Problems that have been collected but do not have a message yet.
//!
//! Of many problems only a few are shown, and which ones is known only after sorting. An unexpected
//! field is therefore recorded with the data that its message needs, and the message is written only
//! if the problem is shown: the search for the intended name is the expensive part of an explanation.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::rc::Rc;

use super::error::{ValidationError, ValidationErrorKind};
use super::location::join;
use crate::tape::Node;

/// One problem with a call.
#[derive(Debug, Clone)]
pub(super) struct Problem<'e> {
    /// The error; its message is empty as long as `unexpected_field` is set.
    pub(super) error: ValidationError,
    pub(super) unexpected_field: Option<UnexpectedField<'e>>,
}

/// The data that the message about an unexpected field needs.
#[derive(Debug, Clone)]
pub(super) struct UnexpectedField<'e> {
    /// The object that contains the field.
    pub(super) object: Option<Node<'e>>,
    /// The names that fields can have there.
    pub(super) names: Rc<[&'e str]>,
    pub(super) reason: Reason,
}

/// Why a field is not accepted.
#[derive(Debug, Clone)]
pub(super) enum Reason {
    /// The schema does not list it.
    Unknown,
    /// Its schema is `false`.
    Forbidden,
    /// Its name violates `propertyNames`; the requirement follows "must".
    InvalidName { requirement: String },
}

impl<'e> Problem<'e> {
    pub(super) fn unexpected_field(
        object_path: &str,
        field: &str,
        schema_path: String,
        unexpected_field: UnexpectedField<'e>,
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
            suggested_values: Vec::new(),
            fills: None,
        };
        Self { error, unexpected_field: Some(unexpected_field) }
    }
}

impl From<ValidationError> for Problem<'_> {
    fn from(error: ValidationError) -> Self {
        Self { error, unexpected_field: None }
    }
}

/// Sorts the problems by path and reduces them to one per mistake: a wrong type is not also reported as
/// a wrong value. The order puts a misspelt field next to the missing field that it stands for; missing fields
/// keep the order of the schema.
pub(super) fn sort_and_dedup(problems: &mut Vec<Problem<'_>>) {
    let wrong_type: HashSet<String> = problems
        .iter()
        .filter(|problem| matches!(problem.error.kind, ValidationErrorKind::TypeMismatch { .. }))
        .map(|problem| problem.error.path.clone())
        .collect();
    problems.retain(|problem| {
        !matches!(
            problem.error.kind,
            ValidationErrorKind::InvalidEnum { .. } | ValidationErrorKind::InvalidValue { .. }
        ) || !wrong_type.contains(&problem.error.path)
    });
    problems.sort_by(|a, b| {
        let parents = a.error.parent_path().cmp(b.error.parent_path());
        let ranks = || rank(&a.error.kind).cmp(&rank(&b.error.kind));
        let paths = || match a.error.kind {
            ValidationErrorKind::MissingRequired { .. } => Ordering::Equal,
            _ => a.error.path.cmp(&b.error.path),
        };
        parents.then_with(ranks).then_with(paths)
    });
    let mut known = HashSet::new();
    problems
        .retain(|problem| known.insert((problem.error.path.clone(), problem.error.kind.name())));
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
