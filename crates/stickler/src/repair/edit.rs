//! One change to a call.

/// What was changed, where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// What was done.
    pub kind: EditKind,
    /// JSON Pointer within the arguments at that moment; empty for the whole.
    pub path: String,
    /// What was there: a name, or a value as JSON. Empty when there was nothing.
    pub from: String,
    /// What is there now: a name, or a value as JSON. Empty when there is nothing.
    pub to: String,
    /// The meaning cannot have been another, so that the edit may be made without asking.
    pub is_beyond_doubt: bool,
}

/// The ways in which a call can be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditKind {
    /// A value that arrived as the text of its JSON.
    Unstringify,
    /// A number or boolean where a string is wanted.
    Stringify,
    /// A `null` in a field that may be left out.
    DropNull,
    /// A field under another name.
    RenameField,
    /// A value that is nearly one of those allowed.
    ReplaceValue,
    /// A single value where a list is wanted.
    WrapInArray,
    /// A missing field whose value the schema knows.
    FillDefault,
    /// Arguments inside another object.
    UnwrapArguments,
    /// A field that the client adds to every call.
    StripInjected,
    /// A tool under another name.
    RenameTool,
}

impl EditKind {
    /// The stable name that programs know it by.
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

    /// Whether `from` and `to` are names, which are not masked.
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
        Self {
            kind,
            path: path.to_owned(),
            from: from.into(),
            to: to.into(),
            is_beyond_doubt: true,
        }
    }

    pub(crate) fn in_doubt_unless(mut self, beyond_doubt: bool) -> Self {
        self.is_beyond_doubt = beyond_doubt;
        self
    }

    /// Suggested, never made without asking: it is another tool.
    pub(crate) fn rename_tool(from: &str, to: &str) -> Self {
        Self::new(EditKind::RenameTool, "", from, to).in_doubt_unless(false)
    }

    /// Leaves out the values that it shows; names stay.
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
