//! Validation errors: one error for each problem with a call.

use std::fmt;

/// One problem with a call: its kind, its location and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationError {
    /// JSON Pointer within the arguments to the invalid or missing member; empty for the arguments
    /// themselves.
    pub path: String,
    /// JSON Pointer within the schema to the keyword that failed; empty if there is none.
    pub schema_path: String,
    /// The kind of problem.
    pub kind: ValidationErrorKind,
    /// One sentence that the caller can act on.
    pub message: String,
    /// What was expected, in a few words.
    pub expected: String,
    /// What was received, in a few words.
    pub received: String,
    /// Values that were probably meant; suggested names are in the kind.
    pub(crate) suggested_values: Vec<String>,
    /// The missing required field that an unknown field stands for: both are one problem.
    pub(crate) fills: Option<String>,
}

/// The kinds of problems, with their details.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidationErrorKind {
    /// A required field is missing.
    MissingRequired {
        /// Its name.
        field: String,
    },
    /// A value has the wrong type.
    TypeMismatch {
        /// The accepted type or types.
        expected: String,
        /// The type of the value.
        actual: String,
    },
    /// A field that the schema does not define.
    UnknownField {
        /// Its name.
        field: String,
        /// The names that were probably meant, best first.
        suggestions: Vec<String>,
    },
    /// A value of the right type that violates a constraint.
    InvalidValue {
        /// The constraint that the value violates.
        reason: String,
    },
    /// A value that is not one of the allowed values.
    InvalidEnum {
        /// The value.
        value: String,
        /// The allowed values; truncated if many errors have long lists.
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
    /// Returns the stable, machine-readable name.
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
    /// Creates an error of a check of your own. The path is a JSON Pointer within the arguments; the message
    /// is one sentence that the caller can act on.
    ///
    /// ```
    /// use stickler::{ValidationError, ValidationErrorKind};
    ///
    /// let reason = "must be in the future".to_owned();
    /// let kind = ValidationErrorKind::InvalidValue { reason };
    /// let error = ValidationError::new("/date", kind, "`/date` must be in the future.");
    /// assert_eq!(error.to_string(), "`/date` must be in the future.");
    /// ```
    pub fn new(
        path: impl Into<String>,
        kind: ValidationErrorKind,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            schema_path: String::new(),
            kind,
            message: message.into(),
            expected: String::new(),
            received: String::new(),
            suggested_values: Vec::new(),
            fills: None,
        }
    }

    /// Creates an error about the whole value.
    pub fn whole(reason: String) -> Self {
        let message = reason.clone();
        Self::new("", ValidationErrorKind::InvalidValue { reason }, message)
    }

    /// Returns the names or values that were probably meant, best first.
    pub fn suggestions(&self) -> &[String] {
        match &self.kind {
            ValidationErrorKind::UnknownField { suggestions, .. }
            | ValidationErrorKind::UnknownTool { suggestions, .. } => suggestions,
            _ => &self.suggested_values,
        }
    }

    /// Returns the path of the object or array that contains the invalid member.
    pub(crate) fn parent_path(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(parent, _)| parent)
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValidationError {}
