//! Which branch of a failed `anyOf` or `oneOf` the caller meant.
//!
//! "Does not match any schema" helps nobody. The closest branch is the one of the right type, with
//! the right discriminator (a `const` or `enum` that tells the branches apart), and the least wrong
//! besides.
//!
//! Contract: the branches together are translated and compared with the call within the explainer's
//! budgets, and what does not fit into those speaks neither for a branch nor against it.

use std::collections::HashSet;

use jsonschema::ValidationError as EngineError;
use serde_json::Value;

use super::error::{ValidationError, ValidationErrorKind};
use super::explain::Explainer;
use super::place::join;
use super::problem::{Problem, tidy};
use crate::embedded::types_held;
use crate::schema::NodeId;
use crate::suggest;
use crate::tape::Node;

/// The problems of the closest branch, or one for all when none is closer than the others.
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
            tidy(&mut problems);
            problems
        })
        .collect();
    let given = Given::at(explainer, path);
    if let Some(error) = same_complaint(explainer, &given, schema_path, &translated) {
        return vec![error.into()];
    }
    let closest = translated
        .iter()
        .enumerate()
        // What stopped half-way has no errors and must not win for that.
        .filter(|(_, problems)| !problems.is_empty())
        .min_by_key(|(index, problems)| {
            let node = explainer.schema.graph.at(&join(schema_path, &index.to_string()));
            let weights = problems.iter().map(|one| weight(&one.error, &given));
            weights.sum::<usize>() + unknown_names(explainer, node, given.value)
        })
        .map(|(index, _)| index);
    let Some(index) = closest else {
        let demand = "match one of the forms in the schema";
        let place = schema_path.to_owned();
        return vec![explainer.wording.invalid(path, place, demand, given.value).into()];
    };
    if let Some(error) = other_discriminator(explainer, path, index, &translated) {
        return vec![error.into()];
    }
    if let Some(value) = given.value {
        explainer.choices.set(value, schema_path, index);
    }
    translated.swap_remove(index)
}

/// The value that no branch accepts.
struct Given<'p, 'e> {
    path: &'p str,
    value: Option<Node<'e>>,
    /// The types that it is the text of.
    as_text: &'static [&'static str],
}

impl<'p, 'e> Given<'p, 'e> {
    fn at(explainer: &Explainer<'e>, path: &'p str) -> Self {
        let value = explainer.value(path);
        let as_text = value.and_then(Node::as_str).map_or(&[][..], |text| types_held(&text));
        Self { path, value, as_text }
    }

    /// Whether it is the text of one of these types.
    fn holds(&self, types: &str) -> bool {
        types.split(" or ").any(|name| self.as_text.contains(&name))
    }
}

/// When the member that tells the branches apart has a value that none of them knows, there is one
/// thing to say: all the values that it could have.
fn other_discriminator(
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
    let mut of_closest = branches.get(closest)?.iter().map(|one| &one.error);
    let wrong = of_closest.find(is_discriminator)?;
    let (mut options, mut seen) = (Vec::new(), HashSet::new());
    for problems in branches {
        let same = problems.iter().find(|one| one.error.path == wrong.path)?;
        let allowed = allowed(explainer, &same.error)?;
        options.extend(allowed.into_iter().filter(|option| seen.insert(*option)));
    }
    Some(explainer.not_allowed(&wrong.path, wrong.schema_path.clone(), &options))
}

/// How much an error speaks against a branch.
fn weight(error: &ValidationError, given: &Given<'_, '_>) -> usize {
    let rest = error.path.strip_prefix(given.path).unwrap_or_default();
    match &error.kind {
        // Another type altogether, unless the right one arrived as text.
        ValidationErrorKind::TypeMismatch { expected, .. } if rest.is_empty() => {
            if given.holds(expected) { 10 } else { 1_000 }
        }
        // A discriminator that says something else; a misspelt one still points here.
        ValidationErrorKind::InvalidEnum { .. } if rest.matches('/').count() <= 1 => {
            if error.suggestions().is_empty() { 40 } else { 3 }
        }
        ValidationErrorKind::MissingRequired { .. } => 3,
        _ => 2,
    }
}

/// Names in the value that the branch does not have are a sign that another one was meant. One that is
/// near to a name of the branch costs less, as far as names may be compared.
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
    let scoring = &explainer.effort.branches;
    for (key, _) in value.members() {
        if unknown == 0 || !scoring.allows(names.len()) {
            break;
        }
        if !known.contains(key.as_ref()) {
            let nearest = suggest::nearest_of(&key, &names, |_| true, explainer.distance, scoring);
            near += if nearest.is_empty() { 2 } else { 1 };
            unknown -= 1;
        }
    }
    near + 2 * unknown
}

/// When every branch complains of the same thing about the value itself, there is one thing to say:
/// all the types that would do, or all the values.
fn same_complaint(
    explainer: &Explainer<'_>,
    given: &Given<'_, '_>,
    schema_path: &str,
    branches: &[Vec<Problem<'_>>],
) -> Option<ValidationError> {
    let (path, place) = (given.path, || schema_path.to_owned());
    let of_type: Option<Vec<&str>> =
        branches.iter().map(|problems| wrong_type(problems, path)).collect();
    if let Some(types) = of_type {
        let mut names: Vec<&str> = types.iter().flat_map(|names| names.split(" or ")).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        let types = names.join(" or ");
        return Some(explainer.wording.wrong_type(path, place(), &types, given.value));
    }
    // Text of a type that would do is more likely meant as that than as one of a few words.
    let types = branches.iter().flat_map(|problems| wrong_types(problems, path));
    if types.into_iter().any(|expected| given.holds(expected)) {
        return None;
    }
    let mut options: Vec<&Value> = Vec::new();
    let mut right_type = branches.iter().filter(|problems| wrong_type(problems, path).is_none());
    let all_of_values = right_type.try_for_each(|problems| match problems.as_slice() {
        [one] if one.error.path == path => {
            options.extend(allowed(explainer, &one.error)?);
            Some(())
        }
        _ => None,
    });
    all_of_values?;
    Some(explainer.not_allowed(path, place(), &options))
}

/// The type that the value at that path should have.
fn wrong_type<'p>(problems: &'p [Problem<'_>], path: &str) -> Option<&'p str> {
    wrong_types(problems, path).next()
}

fn wrong_types<'p>(problems: &'p [Problem<'_>], path: &str) -> impl Iterator<Item = &'p str> {
    problems.iter().filter_map(move |one| match &one.error.kind {
        ValidationErrorKind::TypeMismatch { expected, .. } if one.error.path == path => {
            Some(expected.as_str())
        }
        _ => None,
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
