//! The result of validating a call.

use serde_json::value::RawValue;

use super::error::{ValidationError, ValidationErrorKind};
use crate::finding::Finding;
use crate::repair::{Edit, in_words};
use crate::rules::MessageRule;

/// JSON Pointer of the arguments within a `tools/call` request.
pub const ARGUMENTS_POINTER: &str = "/params/arguments";

/// Whether a call is valid, with its problems and the corrected call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ValidationResult {
    /// Whether the call can be made, with [`arguments`](Self::arguments).
    pub is_valid: bool,
    /// The problems with the call; for a repaired call, the problems before the repair. A valid call that
    /// was not repaired can have [tolerated](Self::tolerated) ones.
    pub errors: Vec<ValidationError>,
    /// Whether the list of errors may be incomplete because the explanation exceeded its limits.
    pub truncated: bool,
    /// The call as it was probably meant.
    pub corrected: Option<CorrectedCall>,
    /// The edits that lead to the corrected call.
    pub edits: Vec<Edit>,
    /// Whether the corrected arguments replace the received ones.
    pub repaired: bool,
    /// If the call was accepted without a complete check: the reason.
    pub unchecked: Option<String>,
}

/// The corrected, valid form of a rejected call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CorrectedCall {
    /// The tool's name.
    pub name: String,
    /// The arguments: the caller's text with only the edits applied.
    pub arguments: Box<RawValue>,
}

impl ValidationResult {
    /// Creates the result of a call that passed every check, or for which no schema is known.
    pub fn valid() -> Self {
        Self { is_valid: true, ..Self::default() }
    }

    pub(crate) fn unchecked(reason: impl Into<String>) -> Self {
        Self { is_valid: true, unchecked: Some(reason.into()), ..Self::default() }
    }

    /// Creates the result of a call that satisfies the part of its schema that could be checked.
    pub(super) fn partially_checked(tool: &str, reason: &str) -> Self {
        let code = MessageRule::UnusableSchema.as_str();
        Self::unchecked(format!(
            "[{code}] the schema of tool `{tool}` is only partially checked: {reason}"
        ))
    }

    pub(crate) fn rejected(errors: Vec<ValidationError>, truncated: bool) -> Self {
        Self { errors, truncated, ..Self::default() }
    }

    /// Creates the result of a call that a check of your own rejects, for a help prompt about its errors.
    pub fn from_errors(errors: Vec<ValidationError>) -> Self {
        Self { is_valid: errors.is_empty(), errors, ..Self::default() }
    }

    /// Creates the result of a call whose problems do not make it invalid.
    pub(super) fn accepted_with(errors: Vec<ValidationError>) -> Self {
        Self { is_valid: true, errors, ..Self::default() }
    }

    /// Returns the problems that the configuration tolerates, for a report.
    pub fn tolerated(&self) -> &[ValidationError] {
        if self.is_valid && !self.repaired { &self.errors } else { &[] }
    }

    /// Returns the edits of the corrected call in words, such as `renamed filepath → path`; empty if there
    /// are none.
    pub fn edits_in_words(&self) -> String {
        in_words(&self.edits)
    }

    /// Returns the errors as findings about the enclosing `tools/call` request.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = self.errors.iter().map(|error| match error.kind {
            ValidationErrorKind::UnknownTool { .. } => {
                Finding::from_schema(MessageRule::UnknownTool, "", error).at("/params/name")
            }
            _ => Finding::from_schema(MessageRule::InvalidArguments, ARGUMENTS_POINTER, error),
        });
        findings.collect()
    }

    /// Returns the arguments to forward instead of the received ones; `None` if the received arguments
    /// are forwarded unchanged.
    pub fn arguments(&self) -> Option<&RawValue> {
        let corrected = self.corrected.as_ref().filter(|_| self.repaired)?;
        Some(&corrected.arguments)
    }
}
