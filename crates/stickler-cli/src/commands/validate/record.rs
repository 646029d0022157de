//! Renders a result as one line of JSON. The format is documented and stable.

use serde::Serialize;
use serde_json::value::RawValue;
use stickler::{Edit, McpValidator, ValidationError};

use super::SERVER;
use super::call::CheckedInput;

#[derive(Serialize)]
pub(in crate::commands) struct Record<'r> {
    line: usize,
    tool: Option<&'r str>,
    valid: bool,
    errors: Vec<ErrorRecord<'r>>,
    corrected: Option<CallRecord<'r>>,
    edits: Vec<EditRecord<'r>>,
    help: Option<String>,
}

#[derive(Serialize)]
struct ErrorRecord<'r> {
    path: &'r str,
    schema_path: &'r str,
    kind: &'static str,
    message: &'r str,
    expected: &'r str,
    received: &'r str,
    suggestions: &'r [String],
}

#[derive(Serialize)]
struct CallRecord<'r> {
    name: &'r str,
    arguments: &'r RawValue,
}

#[derive(Serialize)]
struct EditRecord<'r> {
    edit: &'static str,
    path: &'r str,
    from: &'r str,
    to: &'r str,
}

impl<'r> Record<'r> {
    pub(in crate::commands) fn new(
        validator: &McpValidator,
        line: usize,
        checked: &'r CheckedInput,
    ) -> Self {
        match checked {
            CheckedInput::Call { tool, result, .. } => {
                let masked = validator.config().mask_values;
                let corrected = result.corrected.as_ref().filter(|_| !masked);
                let rejected = !result.is_valid;
                Self {
                    line,
                    tool: Some(tool),
                    valid: result.is_valid,
                    errors: result.errors.iter().map(ErrorRecord::from).collect(),
                    corrected: corrected
                        .map(|call| CallRecord { name: &call.name, arguments: &call.arguments }),
                    edits: result.edits.iter().map(EditRecord::from).collect(),
                    help: rejected
                        .then(|| validator.build_help_prompt(SERVER, tool, result).into()),
                }
            }
            CheckedInput::NotACall { kind, message, expected } => Self {
                line,
                tool: None,
                valid: false,
                errors: vec![ErrorRecord {
                    path: "",
                    schema_path: "",
                    kind: kind.name(),
                    message,
                    expected,
                    received: "",
                    suggestions: &[],
                }],
                corrected: None,
                edits: Vec::new(),
                help: Some(format!("{message} Expected {expected}.")),
            },
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl<'r> From<&'r ValidationError> for ErrorRecord<'r> {
    fn from(error: &'r ValidationError) -> Self {
        Self {
            path: &error.path,
            schema_path: &error.schema_path,
            kind: error.kind.name(),
            message: &error.message,
            expected: &error.expected,
            received: &error.received,
            suggestions: error.suggestions(),
        }
    }
}

impl<'r> From<&'r Edit> for EditRecord<'r> {
    fn from(edit: &'r Edit) -> Self {
        Self { edit: edit.kind.name(), path: &edit.path, from: &edit.from, to: &edit.to }
    }
}
