//! Which branch of a failed `anyOf` or `oneOf` the caller meant.
//!
//! "Does not match any schema" helps nobody. The closest branch is the one of the right type, with
//! the right discriminator (a `const` or `enum` that tells the branches apart), and the least wrong
//! besides.

use jsonschema::ValidationError as EngineError;
use serde_json::Value;

use super::describe;
use super::error::{ValidationError, ValidationErrorKind};
use super::explain::{Explainer, tidy};
use super::place::join;
use crate::embedded::parse_as;
use crate::schema::NodeId;
use crate::suggest;
use crate::tape::Node;

/// The errors of the closest branch, or one error for all when none is closer than the others.
pub(super) fn explain(
    explainer: &mut Explainer<'_>,
    path: &str,
    schema_path: &str,
    branches: &[Vec<EngineError<'static>>],
) -> Vec<ValidationError> {
    let translated: Vec<Vec<ValidationError>> = branches
        .iter()
        .map(|errors| {
            let mut errors = explainer.translate_all(errors);
            tidy(&mut errors, usize::MAX);
            errors
        })
        .collect();
    if let Some(error) = same_complaint(explainer, path, schema_path, &translated) {
        return vec![error];
    }
    let value = explainer.value(path);
    let closest = translated
        .iter()
        .enumerate()
        // What stopped half-way has no errors and must not win for that.
        .filter(|(_, errors)| !errors.is_empty())
        .min_by_key(|(index, errors)| {
            let node = explainer.schema.graph.at(&join(schema_path, &index.to_string()));
            let weights = errors.iter().map(|error| weight(error, path, value));
            weights.sum::<usize>() + unknown_names(explainer, node, value)
        });
    match closest {
        Some((index, errors)) => {
            if let Some(error) = other_discriminator(explainer, path, errors, &translated) {
                return vec![error];
            }
            explainer.choices.set(path, schema_path, index);
            errors.clone()
        }
        None => vec![explainer.wording.invalid(
            path,
            schema_path.to_owned(),
            "match one of the forms in the schema",
            value,
        )],
    }
}

/// When the member that tells the branches apart has a value that none of them knows, there is one
/// thing to say: all the values that it could have.
fn other_discriminator(
    explainer: &Explainer<'_>,
    path: &str,
    closest: &[ValidationError],
    branches: &[Vec<ValidationError>],
) -> Option<ValidationError> {
    let is_discriminator = |error: &&ValidationError| {
        let rest = error.path.strip_prefix(path).unwrap_or_default();
        matches!(error.kind, ValidationErrorKind::InvalidEnum { .. })
            && rest.matches('/').count() == 1
            && error.suggestions().is_empty()
    };
    let wrong = closest.iter().find(is_discriminator)?;
    let mut options: Vec<&Value> = Vec::new();
    for errors in branches {
        let same = errors.iter().find(|error| error.path == wrong.path)?;
        for option in allowed(explainer, same)? {
            if !options.contains(&option) {
                options.push(option);
            }
        }
    }
    Some(explainer.not_allowed(&wrong.path, wrong.schema_path.clone(), &options))
}

/// How much an error speaks against a branch.
fn weight(error: &ValidationError, path: &str, value: Option<Node<'_>>) -> usize {
    let rest = error.path.strip_prefix(path).unwrap_or_default();
    match &error.kind {
        // Another type altogether, unless the right one arrived as text.
        ValidationErrorKind::TypeMismatch { expected, .. } if rest.is_empty() => {
            if value.is_some_and(|value| holds(value, expected)) { 10 } else { 1_000 }
        }
        // A discriminator that says something else; a misspelt one still points here.
        ValidationErrorKind::InvalidEnum { .. } if rest.matches('/').count() <= 1 => {
            if error.suggestions().is_empty() { 40 } else { 3 }
        }
        ValidationErrorKind::MissingRequired { .. } => 3,
        _ => 2,
    }
}

/// Whether a string is the text of one of these types.
fn holds(value: Node<'_>, types: &str) -> bool {
    let wanted: Vec<&str> = types.split(" or ").collect();
    value.as_str().is_some_and(|text| parse_as(&text, &wanted).is_some())
}

/// Names in the value that the branch does not have are a sign that another one was meant.
fn unknown_names(
    explainer: &Explainer<'_>,
    branch: Option<NodeId>,
    value: Option<Node<'_>>,
) -> usize {
    let (Some(branch), Some(value)) = (branch, value) else {
        return 0;
    };
    let names = describe::names(explainer.schema, &[branch]);
    if names.is_empty() {
        return 0;
    }
    let cost = |key: &str| match names.contains(&key) {
        true => 0,
        false if suggest::nearest(key, names.iter().copied(), explainer.distance).is_empty() => 2,
        false => 1,
    };
    value.members().map(|(key, _)| cost(&key)).sum()
}

/// When every branch complains of the same thing about the value itself, there is one thing to say:
/// all the types that would do, or all the values.
fn same_complaint(
    explainer: &Explainer<'_>,
    path: &str,
    schema_path: &str,
    branches: &[Vec<ValidationError>],
) -> Option<ValidationError> {
    let of_type: Option<Vec<&str>> = branches
        .iter()
        .map(|errors| {
            errors.iter().find_map(|error| match &error.kind {
                ValidationErrorKind::TypeMismatch { expected, .. } if error.path == path => {
                    Some(expected.as_str())
                }
                _ => None,
            })
        })
        .collect();
    if let Some(types) = of_type {
        let mut names: Vec<&str> = types.iter().flat_map(|names| names.split(" or ")).collect();
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(name);
                true
            }
        });
        let value = explainer.value(path);
        let place = schema_path.to_owned();
        return Some(explainer.wording.wrong_type(path, place, &names.join(" or "), value));
    }
    // Text of a type that would do is more likely meant as that than as one of a few words.
    let as_text = branches.iter().flatten().any(|error| match &error.kind {
        ValidationErrorKind::TypeMismatch { expected, .. } if error.path == path => {
            explainer.value(path).is_some_and(|value| holds(value, expected))
        }
        _ => false,
    });
    if as_text {
        return None;
    }
    let mut options: Vec<&Value> = Vec::new();
    let mut right_type = branches.iter().filter(|errors| !complains_of_type(errors, path));
    let all_of_values = right_type.try_for_each(|errors| match errors.as_slice() {
        [error] if error.path == path => {
            options.extend(allowed(explainer, error)?);
            Some(())
        }
        _ => None,
    });
    all_of_values?;
    Some(explainer.not_allowed(path, schema_path.to_owned(), &options))
}

fn complains_of_type(errors: &[ValidationError], path: &str) -> bool {
    errors.iter().any(|error| {
        error.path == path && matches!(error.kind, ValidationErrorKind::TypeMismatch { .. })
    })
}

/// The values that an `enum` or `const` allows.
fn allowed<'e>(explainer: &Explainer<'e>, error: &ValidationError) -> Option<Vec<&'e Value>> {
    if !matches!(error.kind, ValidationErrorKind::InvalidEnum { .. }) {
        return None;
    }
    match explainer.schema.at(&error.schema_path)? {
        // A nested choice has been put into one already: its branches.
        Value::Array(branches) if error.schema_path.ends_with("Of") => branches
            .iter()
            .map(|branch| branch.get("const").or_else(|| branch.get("enum")))
            .collect::<Option<Vec<_>>>(),
        Value::Array(options) => Some(options.iter().collect()),
        constant => Some(vec![constant]),
    }
}
