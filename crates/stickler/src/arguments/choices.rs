//! Which branch to believe in where none holds.

use std::collections::HashMap;

use crate::tape::Node;

/// For a value in the arguments and an `anyOf` or `oneOf` in the schema, the closest branch.
#[derive(Debug, Default)]
pub(crate) struct Choices(HashMap<u32, HashMap<String, usize>>);

impl Choices {
    pub(crate) fn set(&mut self, value: Node<'_>, schema_path: &str, branch: usize) {
        let of_value = self.0.entry(value.token_index()).or_default();
        of_value.insert(schema_path.to_owned(), branch);
    }

    pub(crate) fn get(&self, value: Node<'_>, schema_path: &str) -> Option<usize> {
        // Empty whenever a call is valid.
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&value.token_index())?.get(schema_path).copied()
    }
}
