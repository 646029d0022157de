//! What validation has to say about a call.

use serde_json::value::RawValue;

use super::error::{ValidationError, ValidationErrorKind};
use crate::finding::Finding;
use crate::repair::Edit;
use crate::rules::MessageRule;

/// Where the arguments stand in a `tools/call`.
pub const ARGUMENTS: &str = "/params/arguments";

/// Whether a call is valid, and if not, everything there is to know about it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ValidationResult {
    /// The call may be made, with [`arguments`](Self::arguments).
    pub is_valid: bool,
    /// What is wrong with it; what was wrong with it when it was repaired.
    pub errors: Vec<ValidationError>,
    /// The list of errors may go on: looking further would have taken too long.
    pub truncated: bool,
    /// The call as it was probably meant.
    pub corrected: Option<CorrectedCall>,
    /// What was changed to get there.
    pub edits: Vec<Edit>,
    /// The corrected arguments are the ones to pass on.
    pub repaired: bool,
    /// Why the call could not be checked, or not by all of the schema, when it passed for that.
    pub unchecked: Option<String>,
}

/// A call that would have been valid.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CorrectedCall {
    /// The tool's name.
    pub name: String,
    /// The arguments: the caller's own text, with only the edits made to it.
    pub arguments: Box<RawValue>,
}

impl ValidationResult {
    /// Nothing is wrong with the call, or nothing is known that could be.
    pub fn valid() -> Self {
        Self { is_valid: true, ..Self::default() }
    }

    pub(crate) fn unchecked(reason: impl Into<String>) -> Self {
        Self { is_valid: true, unchecked: Some(reason.into()), ..Self::default() }
    }

    /// The call satisfies what was checked of its tool's schema.
    pub(super) fn checked_in_part(tool: &str, reason: &str) -> Self {
        let code = MessageRule::UnusableSchema.as_str();
        Self::unchecked(format!(
            "[{code}] the schema of tool `{tool}` is checked in part: {reason}"
        ))
    }

    pub(crate) fn refused(errors: Vec<ValidationError>, truncated: bool) -> Self {
        Self { errors, truncated, ..Self::default() }
    }

    /// What is wrong with the call, as findings about the `tools/call` that it came in.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = self.errors.iter().cloned().map(|error| match error.kind {
            ValidationErrorKind::UnknownTool { .. } => {
                Finding::from_schema(MessageRule::UnknownTool, "", error).at("/params/name")
            }
            _ => Finding::from_schema(MessageRule::InvalidArguments, ARGUMENTS, error),
        });
        findings.collect()
    }

    /// The arguments to pass on in place of those that came; `None` when those are to be passed on
    /// as they are.
    pub fn arguments(&self) -> Option<&RawValue> {
        let corrected = self.corrected.as_ref().filter(|_| self.repaired)?;
        Some(&corrected.arguments)
    }
}
