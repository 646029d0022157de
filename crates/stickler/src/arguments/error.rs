//! One thing that is wrong with a call.

/// What is wrong, where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationError {
    /// JSON Pointer within the arguments to the offending or missing member; empty for the whole.
    pub path: String,
    /// JSON Pointer within the schema to the keyword that refused; empty where none did.
    pub schema_path: String,
    /// What kind of mistake it is.
    pub kind: ValidationErrorKind,
    /// One sentence that the caller can act on.
    pub message: String,
    /// What would have been right, in a few words.
    pub expected: String,
    /// What came instead, in a few words.
    pub received: String,
    /// Values that were probably meant; those for names are in the kind.
    pub(crate) meant_values: Vec<String>,
}

/// The kinds of mistakes, with what there is to know about each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidationErrorKind {
    /// A required field is not there.
    MissingRequired {
        /// Its name.
        field: String,
    },
    /// A value has the wrong type.
    TypeMismatch {
        /// The type or types that are right.
        expected: String,
        /// The type it has.
        actual: String,
    },
    /// A field that the schema does not have.
    UnknownField {
        /// Its name.
        field: String,
        /// The names that were probably meant, best first.
        suggestions: Vec<String>,
    },
    /// The type is right, the value is not.
    InvalidValue {
        /// What the value would have to be.
        reason: String,
    },
    /// A value that is not one of those allowed.
    InvalidEnum {
        /// The value.
        value: String,
        /// The values that are allowed; only the first few where many errors have long lists.
        allowed: Vec<String>,
    },
    /// A tool that the server does not have.
    UnknownTool {
        /// Its name.
        name: String,
        /// The names that were probably meant, best first.
        suggestions: Vec<String>,
    },
}

impl ValidationErrorKind {
    /// The stable name that programs know it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MissingRequired { .. } => "missing_required",
            Self::TypeMismatch { .. } => "type_mismatch",
            Self::UnknownField { .. } => "unknown_field",
            Self::InvalidValue { .. } => "invalid_value",
            Self::InvalidEnum { .. } => "invalid_enum",
            Self::UnknownTool { .. } => "unknown_tool",
        }
    }
}

impl ValidationError {
    /// Something that is wrong with the whole.
    pub fn whole(reason: String) -> Self {
        Self {
            path: String::new(),
            schema_path: String::new(),
            message: reason.clone(),
            expected: String::new(),
            received: String::new(),
            kind: ValidationErrorKind::InvalidValue { reason },
            meant_values: Vec::new(),
        }
    }

    /// The names or values that were probably meant, best first.
    pub fn suggestions(&self) -> &[String] {
        match &self.kind {
            ValidationErrorKind::UnknownField { suggestions, .. }
            | ValidationErrorKind::UnknownTool { suggestions, .. } => suggestions,
            _ => &self.meant_values,
        }
    }

    /// The path of what the offending member is in.
    pub(crate) fn parent_path(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(parent, _)| parent)
    }
}
