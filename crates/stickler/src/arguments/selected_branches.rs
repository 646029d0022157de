//! The branch selected for the explanation of each `anyOf` or `oneOf` that no branch satisfies.

use std::collections::HashMap;

use crate::tape::Node;

/// Maps a value in the arguments and an `anyOf` or `oneOf` in the schema to the closest branch.
#[derive(Debug, Default)]
pub(crate) struct SelectedBranches(HashMap<u32, HashMap<String, usize>>);

impl SelectedBranches {
    pub(crate) fn set(&mut self, value: Node<'_>, schema_path: &str, branch: usize) {
        let of_value = self.0.entry(value.token_index()).or_default();
        of_value.insert(schema_path.to_owned(), branch);
    }

    pub(crate) fn get(&self, value: Node<'_>, schema_path: &str) -> Option<usize> {
        // Always empty for a valid call.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&value.token_index())?.get(schema_path).copied()
    }
}
