//! Problems inside renamed fields.
//!
//! The fields inside an unknown field can only be checked once its right name is known. Their problems
//! are reported together with the unknown field, so that the caller can correct all of them at once.

use super::edit::{Edit, EditKind};
use crate::arguments::{ValidationError, join};

/// Returns the problems inside renamed fields, with the paths that the caller used.
pub(super) fn problems_inside(edits: &[Edit], errors: &[ValidationError]) -> Vec<ValidationError> {
    let made = edits.iter().filter(|edit| edit.kind == EditKind::RenameField);
    let renamed: Vec<(String, &str)> = made
        .map(|edit| {
            let object = edit.path.rsplit_once('/').map_or("", |(object, _)| object);
            (join(object, &edit.to), edit.path.as_str())
        })
        .collect();
    let as_sent = |error: &ValidationError| {
        let (old, rest) = renamed.iter().find_map(|(new, old)| {
            let rest = error.path.strip_prefix(new.as_str())?;
            rest.starts_with('/').then_some((*old, rest))
        })?;
        let mut error = error.clone();
        let path = format!("{old}{rest}");
        error.message =
            error.message.replacen(&format!("`{}`", error.path), &format!("`{path}`"), 1);
        error.path = path;
        Some(error)
    };
    errors.iter().filter_map(as_sent).collect()
}
