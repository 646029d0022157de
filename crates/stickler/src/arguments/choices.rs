//! Which branch to believe in where none holds.

use std::collections::HashMap;

use super::place::Place;

/// For a place in the arguments and an `anyOf` or `oneOf` in the schema, the closest branch.
#[derive(Debug, Default)]
pub(crate) struct Choices(HashMap<(String, String), usize>);

impl Choices {
    pub(crate) fn set(&mut self, path: &str, schema_path: &str, branch: usize) {
        self.0.insert((path.to_owned(), schema_path.to_owned()), branch);
    }

    pub(crate) fn get(&self, place: &Place<'_>, schema_path: &str) -> Option<usize> {
        // Empty whenever a call is valid: then no pointer is built.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(place.pointer(), schema_path.to_owned())).copied()
    }
}
