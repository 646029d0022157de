//! Matches misspelt fields with the names that were meant.

use std::collections::{HashMap, HashSet};

use super::Call;
use crate::arguments::{Explanation, ValidationErrorKind, names};
use crate::schema::NodeId;
use crate::suggest::{self, Candidate};

/// A field and its intended name.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) path: String,
    pub(super) from: String,
    pub(super) to: String,
    distance: usize,
}

/// Returns at most one new name per field, and at most one field per new name.
pub(super) fn renames(call: &Call<'_>, explanation: &Explanation) -> Vec<Rename> {
    let config = call.validator.config();
    let missing = missing(explanation);
    // Objects of an array usually share their subschemas.
    let mut listed: HashMap<&[NodeId], Vec<&str>> = HashMap::new();
    let mut renames: Vec<Rename> = Vec::new();
    for error in &explanation.errors {
        let ValidationErrorKind::UnknownField { field, .. } = &error.kind else {
            continue;
        };
        let object_path = error.parent_path();
        let Some(object) = call.lookup.pointer(object_path) else {
            continue;
        };
        if object_path.is_empty() && config.is_injected(field) {
            continue;
        }
        let nodes = explanation.nodes_at(object_path);
        let known = listed.entry(nodes).or_insert_with(|| names(&call.schema.compiled, nodes));
        let is_free = |name: &str| call.lookup.get(object, name).is_none();
        let distance = config.suggestion_distance;
        let nearest =
            suggest::nearest_of(field, known, is_free, distance, &call.comparisons.renames);
        if let Some(intended) = intended(&nearest, missing.get(object_path)) {
            renames.push(Rename {
                path: error.path.clone(),
                from: field.clone(),
                to: intended.name.to_owned(),
                distance: intended.distance,
            });
        }
    }
    without_conflicts(renames)
}

/// Returns the best candidate if it is unambiguous; among equals, a missing required field wins.
fn intended<'a>(
    nearest: &[Candidate<'a>],
    missing: Option<&HashSet<&str>>,
) -> Option<Candidate<'a>> {
    let best = nearest.first()?.distance;
    let equals = nearest.iter().filter(|candidate| candidate.distance == best);
    let mut required =
        equals.filter(|candidate| missing.is_some_and(|names| names.contains(candidate.name)));
    suggest::unambiguous_best(nearest).or_else(|| match (required.next(), required.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    })
}

/// Returns the missing fields of each object.
fn missing(explanation: &Explanation) -> HashMap<&str, HashSet<&str>> {
    let mut missing: HashMap<&str, HashSet<&str>> = HashMap::new();
    for error in &explanation.errors {
        if let ValidationErrorKind::MissingRequired { field } = &error.kind {
            missing.entry(error.parent_path()).or_default().insert(field);
        }
    }
    missing
}

/// Resolves conflicts over a name: the nearer field gets it, or neither field if they are equally near.
fn without_conflicts(renames: Vec<Rename>) -> Vec<Rename> {
    let mut distances: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for rename in &renames {
        distances.entry(target(rename)).or_default().push(rename.distance);
    }
    let is_nearest = |rename: &Rename| {
        let all = distances.get(&target(rename)).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|distance| **distance <= rename.distance).count() == 1
    };
    renames.into_iter().filter(is_nearest).collect()
}

/// Returns the path of the object and the new name of the field.
fn target(rename: &Rename) -> (String, String) {
    let object = rename.path.rsplit_once('/').map_or("", |(object, _)| object);
    (object.to_owned(), rename.to.clone())
}
