//! The renames and moves of unknown fields in a corrected call.

use super::Call;
use crate::arguments::{Explanation, Place, ValidationErrorKind};

/// A field and the field that was meant.
#[derive(Debug)]
pub(super) struct Rename<'x> {
    /// The path of the field.
    pub(super) path: &'x str,
    pub(super) from: &'x str,
    pub(super) to: &'x str,
    pub(super) place: &'x Place,
}

/// Returns the fields whose counterpart stands out, with their new names and places.
pub(super) fn renames<'x>(call: &Call<'_>, explanation: &'x Explanation) -> Vec<Rename<'x>> {
    let config = call.validator.config();
    let unknown = explanation.errors.iter().filter_map(|error| match &error.kind {
        ValidationErrorKind::UnknownField { field, .. }
            if !(error.parent_path().is_empty() && config.is_injected(field)) =>
        {
            Some((error.path.as_str(), field.as_str()))
        }
        _ => None,
    });
    let sure = unknown.filter_map(|(path, from)| {
        let target = explanation.match_at(path)?.target.as_ref().filter(|target| target.is_sure)?;
        Some(Rename { path, from, to: &target.name, place: &target.place })
    });
    sure.collect()
}
