//! Edits: the single changes that make up a correction.

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
            Self::RenameField | Self::RenameTool | Self::UnwrapArguments | Self::StripInjected
        )
    }
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
