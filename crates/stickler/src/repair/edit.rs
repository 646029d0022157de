//! Edits: the single changes that make up a correction.

use crate::arguments::cut;

/// Maximum number of characters of a name or value in a description of an edit.
const MAX_CHARS: usize = 60;

/// Maximum number of edits that are described, and of characters of their description.
const MAX_EDITS: usize = 12;
const MAX_EDITS_CHARS: usize = 400;

/// The verbs of descriptions; edits with the same verb are listed together.
const VERBS: &[&str] = &["renamed", "moved", "removed", "added", "changed", "parsed"];

/// One change to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// The kind of change.
    pub kind: EditKind,
    /// JSON Pointer within the arguments as they were before this edit; empty for the root.
    pub path: String,
    /// The old name, or the old value as JSON; empty for an addition.
    pub from: String,
    /// The new name, or the new value as JSON; empty for a removal.
    pub to: String,
    /// Whether the intended meaning is certain, so that the edit can be applied automatically.
    pub is_unambiguous: bool,
}

/// The ways in which a call can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditKind {
    /// Parses a value that was sent as a string of JSON.
    Unstringify,
    /// Converts a number or boolean to the required string.
    Stringify,
    /// Removes a `null` from an optional field.
    DropNull,
    /// Renames a field.
    RenameField,
    /// Replaces a value by the allowed value that it resembles.
    ReplaceValue,
    /// Wraps a single value in the required array.
    WrapInArray,
    /// Replaces an array by its only element.
    UnwrapElement,
    /// Splits a comma-separated text into the required array.
    SplitList,
    /// Joins an array to the required comma-separated text.
    JoinList,
    /// Removes an empty value: `""` from an optional field, or an unknown field without a value.
    DropEmpty,
    /// Moves a field into a nested object or out of one.
    MoveField,
    /// Adds a missing field with the `const` or `default` of its schema.
    FillDefault,
    /// Unwraps arguments that are nested in another object.
    UnwrapArguments,
    /// Removes a field that the client adds to calls and that the schema forbids.
    StripInjected,
    /// Renames the tool.
    RenameTool,
}

impl EditKind {
    /// Returns the stable, machine-readable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unstringify => "unstringify",
            Self::Stringify => "stringify",
            Self::DropNull => "drop_null",
            Self::RenameField => "rename_field",
            Self::ReplaceValue => "replace_value",
            Self::WrapInArray => "wrap_in_array",
            Self::UnwrapElement => "unwrap_element",
            Self::SplitList => "split_list",
            Self::JoinList => "join_list",
            Self::DropEmpty => "drop_empty",
            Self::MoveField => "move_field",
            Self::FillDefault => "fill_default",
            Self::UnwrapArguments => "unwrap_arguments",
            Self::StripInjected => "strip_injected",
            Self::RenameTool => "rename_tool",
        }
    }

    /// Returns whether `from` and `to` are names, which are not masked.
    fn is_about_names(self) -> bool {
        matches!(
            self,
            Self::RenameField
                | Self::RenameTool
                | Self::UnwrapArguments
                | Self::StripInjected
                | Self::MoveField
        )
    }
}

/// Returns the edits in words: `renamed filepath → path, sheet_name → sheet; removed note`. A long list is
/// cut.
pub(crate) fn in_words(edits: &[Edit]) -> String {
    let mut text = String::new();
    let mut previous = "";
    for edit in edits.iter().take(MAX_EDITS) {
        let words = edit.in_words();
        let (verb, _) = words.split_once(' ').unwrap_or((&words, ""));
        let verb = VERBS.iter().find(|known| **known == verb).copied().unwrap_or_default();
        if text.is_empty() {
            text.push_str(&words);
        } else if verb == previous {
            text.push_str(", ");
            text.push_str(words.strip_prefix(verb).unwrap_or(&words).trim_start());
        } else {
            text.push_str("; ");
            text.push_str(&words);
        }
        previous = verb;
    }
    if edits.len() > MAX_EDITS {
        text.push_str("; …");
    }
    cut(&text, MAX_EDITS_CHARS)
}

/// Replaces line breaks and other control characters, which could pose as sections of the help.
fn on_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

impl Edit {
    pub(crate) fn new(
        kind: EditKind,
        path: &str,
        from: impl Into<String>,
        to: impl Into<String>,
    ) -> Self {
        Self { kind, path: path.to_owned(), from: from.into(), to: to.into(), is_unambiguous: true }
    }

    pub(crate) fn unambiguous_if(mut self, unambiguous: bool) -> Self {
        self.is_unambiguous = unambiguous;
        self
    }

    /// Creates the edit that renames the tool. It is never applied automatically, because it selects
    /// another tool.
    pub(crate) fn rename_tool(from: &str, to: &str) -> Self {
        Self::new(EditKind::RenameTool, "", from, to).unambiguous_if(false)
    }

    /// Returns the edit in a few words, in the past tense: `renamed filepath → path`.
    fn in_words(&self) -> String {
        let name = |text: &str| cut(&on_one_line(text), MAX_CHARS);
        let path = name(self.path.strip_prefix('/').unwrap_or(&self.path));
        let (from, to) = (name(&self.from), name(&self.to));
        match self.kind {
            EditKind::RenameField => {
                let object = path.rsplit_once('/').map_or("", |(object, _)| object);
                let place = if object.is_empty() { String::new() } else { format!(" in {object}") };
                format!("renamed {from} → {to}{place}")
            }
            EditKind::RenameTool => format!("renamed the tool {from} → {to}"),
            EditKind::MoveField => format!("moved {path} → {to}"),
            EditKind::UnwrapArguments => format!("moved the fields of {from} out of it"),
            EditKind::StripInjected | EditKind::DropNull | EditKind::DropEmpty => {
                let what = if path.is_empty() { "null" } else { &path };
                format!("removed {what}")
            }
            EditKind::FillDefault => format!("added {path}: {to}"),
            EditKind::Unstringify if path.is_empty() => "parsed the arguments".to_owned(),
            _ => format!("changed {path}: {from} → {to}"),
        }
    }

    /// Masks the values in `from` and `to`; names are kept.
    pub fn mask(&mut self) {
        if !self.kind.is_about_names() {
            for side in [&mut self.from, &mut self.to] {
                if !side.is_empty() {
                    "…".clone_into(side);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, EditKind, in_words};

    #[test]
    fn edits_with_the_same_verb_are_listed_together() {
        let edits = [
            Edit::new(EditKind::RenameField, "/filepath", "filepath", "path"),
            Edit::new(EditKind::RenameField, "/sheet_name", "sheet_name", "sheet"),
            Edit::new(EditKind::RenameField, "/rows/0/id", "id", "key"),
            Edit::new(EditKind::MoveField, "/bold", "bold", "style/bold"),
            Edit::new(EditKind::DropEmpty, "/note", "\"\"", ""),
            Edit::new(EditKind::Unstringify, "/count", "\"5\"", "5"),
            Edit::new(EditKind::FillDefault, "/mode", "", "\"fast\""),
        ];
        assert_eq!(
            in_words(&edits),
            "renamed filepath → path, sheet_name → sheet, id → key in rows/0; moved bold → style/bold; \
             removed note; changed count: \"5\" → 5; added mode: \"fast\""
        );
    }

    #[test]
    fn names_cannot_add_lines() {
        let edit = Edit::new(EditKind::RenameField, "/a\n## b", "a\n## b", "path");
        assert_eq!(in_words(&[edit]), "renamed a ## b → path");
    }

    #[test]
    fn long_lists_of_edits_are_cut() {
        let edit = Edit::new(EditKind::DropNull, &format!("/{}", "x".repeat(1000)), "null", "");
        assert!(in_words(&vec![edit; 1000]).chars().count() <= 401);
    }
}
