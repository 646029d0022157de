//! Which misspelt field was meant to be which.

use crate::arguments::{Explanation, ValidationErrorKind, names};
use crate::discovery::CachedSchema;
use crate::suggest::{self, Candidate};
use crate::tape::{Node, unescape_segment};

/// A field and the name it should have.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) path: String,
    pub(super) from: String,
    pub(super) to: String,
    distance: usize,
}

/// At most one new name a field, and no name for two fields.
pub(super) fn renames(
    schema: &CachedSchema,
    root: Node<'_>,
    explanation: &Explanation,
    distance: usize,
    injected: &[String],
) -> Vec<Rename> {
    let mut renames: Vec<Rename> = Vec::new();
    for error in &explanation.errors {
        let ValidationErrorKind::UnknownField { field, .. } = &error.kind else {
            continue;
        };
        if injected.contains(field) {
            continue;
        }
        let object_path = error.parent_path();
        let Some(object) = root.pointer(object_path) else {
            continue;
        };
        let nodes = explanation.objects.iter().find(|place| place.path == object_path);
        let known = names(&schema.compiled, nodes.map(|p| p.nodes.as_slice()).unwrap_or_default());
        let free = known.iter().copied().filter(|name| object.get(name).is_none());
        let nearest = suggest::nearest(field, free, distance);
        if let Some(meant) = meant(&nearest, &missing_in(explanation, object_path)) {
            renames.push(Rename {
                path: error.path.clone(),
                from: field.clone(),
                to: meant.name.to_owned(),
                distance: meant.distance,
            });
        }
    }
    without_rivals(renames)
}

/// The one that stands out; between equals, the one that has to be there.
fn meant<'a>(nearest: &[Candidate<'a>], missing: &[String]) -> Option<Candidate<'a>> {
    let best = nearest.first()?.distance;
    let equals = || nearest.iter().filter(|candidate| candidate.distance == best);
    let mut required = equals().filter(|one| missing.iter().any(|name| name == one.name));
    suggest::stands_out(nearest).or_else(|| match (required.next(), required.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    })
}

fn missing_in(explanation: &Explanation, object_path: &str) -> Vec<String> {
    let missing = explanation.errors.iter().filter_map(|error| match &error.kind {
        ValidationErrorKind::MissingRequired { field } if error.parent_path() == object_path => {
            Some(field.clone())
        }
        _ => None,
    });
    missing.collect()
}

/// Where two fields want the same name, the nearer one gets it, and neither when both are as near.
fn without_rivals(renames: Vec<Rename>) -> Vec<Rename> {
    let rivals = |one: &Rename, other: &Rename| {
        one.path != other.path && one.to == other.to && object_of(one) == object_of(other)
    };
    let keep: Vec<bool> = renames
        .iter()
        .map(|one| {
            let mut others = renames.iter().filter(|other| rivals(one, other));
            others.all(|other| one.distance < other.distance)
        })
        .collect();
    renames.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(rename, _)| rename).collect()
}

fn object_of(rename: &Rename) -> String {
    let parent = rename.path.rsplit_once('/').map_or("", |(parent, _)| parent);
    unescape_segment(parent).into_owned()
}
