//! Selects the branch of a failed `anyOf` or `oneOf` that the caller most likely meant.
//!
//! "Does not match any schema" is not actionable. The closest branch is the one with the right type,
//! the right discriminator (a `const` or `enum` that distinguishes the branches) and the fewest other
//! problems.
//!
//! Contract: translating and comparing all branches stays within the explainer's budgets. Comparisons
//! that no longer fit count neither for nor against a branch.

use std::collections::HashSet;

use jsonschema::ValidationError as EngineError;
use serde_json::Value;

use super::error::{ValidationError, ValidationErrorKind};
use super::explain::Explainer;
use super::location::join;
use super::problem::{Problem, sort_and_dedup};
use crate::embedded::embedded_types;
use crate::schema::NodeId;
use crate::suggest;
use crate::tape::Node;

/// Returns the problems of the closest branch, or a single problem if no branch is closer than the rest.
pub(super) fn explain<'e>(
    explainer: &mut Explainer<'e>,
    path: &str,
    schema_path: &str,
    branches: &[Vec<EngineError<'static>>],
) -> Vec<Problem<'e>> {
    let mut translated: Vec<Vec<Problem<'e>>> = branches
        .iter()
        .map(|errors| {
            let mut problems = explainer.translate_all(errors);
            sort_and_dedup(&mut problems);
            problems
        })
        .collect();
    let rejected = RejectedValue::at(explainer, path);
    if let Some(error) = shared_problem(explainer, &rejected, schema_path, &translated) {
        return vec![error.into()];
    }
    let closest = translated
        .iter()
        .enumerate()
        // A truncated translation can be empty; an empty list must not win as the best match.
        .filter(|(_, problems)| !problems.is_empty())
        .min_by_key(|(index, problems)| {
            let node = explainer.schema.graph.at(&join(schema_path, &index.to_string()));
            let weights = problems.iter().map(|problem| weight(&problem.error, &rejected));
            weights.sum::<usize>() + unknown_names(explainer, node, rejected.value)
        })
        .map(|(index, _)| index);
    let Some(index) = closest else {
        let requirement = "match one of the schema's alternatives";
        let location = schema_path.to_owned();
        return vec![explainer.wording.invalid(path, location, requirement, rejected.value).into()];
    };
    if let Some(error) = unknown_discriminator(explainer, path, index, &translated) {
        return vec![error.into()];
    }
    if let Some(value) = rejected.value {
        explainer.selected_branches.set(value, schema_path, index);
    }
    translated.swap_remove(index)
}

/// The value that no branch accepts.
struct RejectedValue<'p, 'e> {
    path: &'p str,
    value: Option<Node<'e>>,
    /// If the value is a string that contains JSON: the types of that JSON.
    embedded_types: &'static [&'static str],
}

impl<'p, 'e> RejectedValue<'p, 'e> {
    fn at(explainer: &Explainer<'e>, path: &'p str) -> Self {
        let value = explainer.value(path);
        let text = value.and_then(Node::as_str);
        let embedded_types = text.map_or(&[][..], |text| embedded_types(&text));
        Self { path, value, embedded_types }
    }

    /// Returns whether the value is a string that contains JSON of one of these types.
    fn embeds(&self, types: &str) -> bool {
        types.split(" or ").any(|name| self.embedded_types.contains(&name))
    }
}

/// Returns one error that lists the discriminator values of all branches, if the value has a
/// discriminator that no branch accepts.
fn unknown_discriminator(
    explainer: &Explainer<'_>,
    path: &str,
    closest: usize,
    branches: &[Vec<Problem<'_>>],
) -> Option<ValidationError> {
    let is_discriminator = |error: &&ValidationError| {
        let rest = error.path.strip_prefix(path).unwrap_or_default();
        matches!(error.kind, ValidationErrorKind::InvalidEnum { .. })
            && rest.matches('/').count() == 1
            && error.suggestions().is_empty()
    };
    let mut of_closest = branches.get(closest)?.iter().map(|problem| &problem.error);
    let wrong = of_closest.find(is_discriminator)?;
    let (mut options, mut seen) = (Vec::new(), HashSet::new());
    for problems in branches {
        let same = problems.iter().find(|problem| problem.error.path == wrong.path)?;
        let allowed = allowed(explainer, &same.error)?;
        options.extend(allowed.into_iter().filter(|option| seen.insert(*option)));
    }
    Some(explainer.not_allowed(&wrong.path, wrong.schema_path.clone(), &options))
}

/// Returns how strongly an error counts against its branch.
fn weight(error: &ValidationError, rejected: &RejectedValue<'_, '_>) -> usize {
    let rest = error.path.strip_prefix(rejected.path).unwrap_or_default();
    match &error.kind {
        // A different type, unless a value of the right type was sent as a JSON string.
        ValidationErrorKind::TypeMismatch { expected, .. } if rest.is_empty() => {
            if rejected.embeds(expected) { 10 } else { 1_000 }
        }
        // A different discriminator; a misspelt one still indicates this branch.
        ValidationErrorKind::InvalidEnum { .. } if rest.matches('/').count() <= 1 => {
            if error.suggestions().is_empty() { 40 } else { 3 }
        }
        ValidationErrorKind::MissingRequired { .. } => 3,
        _ => 2,
    }
}

/// Returns the weight of the value's fields that the branch does not list; they indicate that another
/// branch was meant. A field that resembles a name of the branch weighs less, within the budget.
fn unknown_names<'e>(
    explainer: &Explainer<'e>,
    branch: Option<NodeId>,
    value: Option<Node<'e>>,
) -> usize {
    let (Some(branch), Some(value)) = (branch, value) else {
        return 0;
    };
    let names = explainer.names_of(&[branch]);
    if names.is_empty() {
        return 0;
    }
    let known: HashSet<&str> = names.iter().copied().collect();
    let present = names.iter().filter(|name| explainer.has_member(value, name)).count();
    let mut unknown = value.len().saturating_sub(present);
    let mut near = 0;
    let budget = &explainer.comparisons.branches;
    for (key, _) in value.members() {
        if unknown == 0 || !budget.allows(names.len()) {
            break;
        }
        if !known.contains(key.as_ref()) {
            let nearest = suggest::nearest_of(&key, &names, |_| true, explainer.distance, budget);
            near += if nearest.is_empty() { 2 } else { 1 };
            unknown -= 1;
        }
    }
    near + 2 * unknown
}

/// Returns one error for all branches if every branch rejects the value itself for the same reason:
/// its type or its value. The error lists all accepted types or values.
fn shared_problem(
    explainer: &Explainer<'_>,
    rejected: &RejectedValue<'_, '_>,
    schema_path: &str,
    branches: &[Vec<Problem<'_>>],
) -> Option<ValidationError> {
    let (path, location) = (rejected.path, || schema_path.to_owned());
    let of_type: Option<Vec<&str>> =
        branches.iter().map(|problems| wrong_type(problems, path)).collect();
    if let Some(types) = of_type {
        let mut names: Vec<&str> = types.iter().flat_map(|names| names.split(" or ")).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        let types = names.join(" or ");
        return Some(explainer.wording.wrong_type(path, location(), &types, rejected.value));
    }
    // A string that embeds JSON of an accepted type was more likely meant as that JSON.
    let types = branches.iter().flat_map(|problems| wrong_types(problems, path));
    if types.into_iter().any(|expected| rejected.embeds(expected)) {
        return None;
    }
    let mut options: Vec<&Value> = Vec::new();
    let mut right_type = branches.iter().filter(|problems| wrong_type(problems, path).is_none());
    let only_values = right_type.try_for_each(|problems| match problems.as_slice() {
        [problem] if problem.error.path == path => {
            options.extend(allowed(explainer, &problem.error)?);
            Some(())
        }
        _ => None,
    });
    only_values?;
    Some(explainer.not_allowed(path, location(), &options))
}

/// Returns the type that the value at that path must have.
fn wrong_type<'p>(problems: &'p [Problem<'_>], path: &str) -> Option<&'p str> {
    wrong_types(problems, path).next()
}

fn wrong_types<'p>(problems: &'p [Problem<'_>], path: &str) -> impl Iterator<Item = &'p str> {
    problems.iter().filter_map(move |problem| match &problem.error.kind {
        ValidationErrorKind::TypeMismatch { expected, .. } if problem.error.path == path => {
            Some(expected.as_str())
        }
        _ => None,
    })
}

/// Returns the values that an `enum` or `const` allows.
fn allowed<'e>(explainer: &Explainer<'e>, error: &ValidationError) -> Option<Vec<&'e Value>> {
    if !matches!(error.kind, ValidationErrorKind::InvalidEnum { .. }) {
        return None;
    }
    match explainer.schema.at(&error.schema_path)? {
        // The error summarizes a nested choice; collect the values of its branches.
        Value::Array(branches) if error.schema_path.ends_with("Of") => branches
            .iter()
            .map(|branch| branch.get("const").or_else(|| branch.get("enum")))
            .collect::<Option<Vec<_>>>(),
        Value::Array(options) => Some(options.iter().collect()),
        constant => Some(vec![constant]),
    }
}
