//! A checked call as data: the record that `stickler validate --format json` prints and the Python and
//! JavaScript packages return. The names of its members are stable.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::arguments::{McpValidator, ValidationError, ValidationResult};
use crate::repair::Edit;

/// The outcome of checking a call, ready to be serialized.
///
/// ```
/// use serde_json::json;
/// use stickler::{CallRecord, McpValidator, ToolDefinition, ValidationConfig};
///
/// let validator = McpValidator::new(ValidationConfig::default());
/// let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
/// validator.cache().populate("files", &[ToolDefinition::new("stat").with_input_schema(schema)]);
///
/// let result = validator.validate("files", "stat", &json!({ "pth": "a.txt" }));
/// let record = json!(CallRecord::new(&validator, "files", "stat", &result));
/// assert_eq!(record["errors"][0]["suggestions"][0], "path");
/// assert_eq!(record["corrected"]["arguments"]["path"], "a.txt");
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CallRecord<'r> {
    /// Whether the call can be made.
    pub valid: bool,
    /// The problems with the call.
    pub errors: Vec<ErrorRecord<'r>>,
    /// The call as it was probably meant. Masked records have none.
    pub corrected: Option<CorrectedRecord<'r>>,
    /// The edits that lead to the corrected call.
    pub edits: Vec<EditRecord<'r>>,
    /// The help prompt of a rejected call.
    pub help: Option<String>,
}

/// One problem with a call.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ErrorRecord<'r> {
    /// JSON Pointer within the arguments.
    pub path: &'r str,
    /// JSON Pointer within the schema.
    pub schema_path: &'r str,
    /// The kind of problem.
    pub kind: &'static str,
    /// One sentence that the caller can act on.
    pub message: &'r str,
    /// What was expected, in a few words.
    pub expected: &'r str,
    /// What was received, in a few words.
    pub received: &'r str,
    /// The names or values that were probably meant, best first.
    pub suggestions: &'r [String],
}

/// A corrected call.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CorrectedRecord<'r> {
    /// The tool's name.
    pub name: &'r str,
    /// The caller's text with the edits applied.
    pub arguments: &'r RawValue,
}

/// One change to a call.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct EditRecord<'r> {
    /// The kind of change.
    pub edit: &'static str,
    /// JSON Pointer within the arguments as they were before this edit.
    pub path: &'r str,
    /// The old name, or the old value as JSON.
    pub from: &'r str,
    /// The new name, or the new value as JSON.
    pub to: &'r str,
}

impl<'r> CallRecord<'r> {
    /// Creates the record of a validation result.
    pub fn new(
        validator: &McpValidator,
        server: &str,
        tool: &str,
        result: &'r ValidationResult,
    ) -> Self {
        let masked = validator.config().mask_values;
        let corrected = result.corrected.as_ref().filter(|_| !masked);
        let help = (!result.is_valid)
            .then(|| validator.build_help_prompt(server, tool, result).as_str().to_owned());
        Self {
            valid: result.is_valid,
            errors: result.errors.iter().map(ErrorRecord::from).collect(),
            corrected: corrected
                .map(|call| CorrectedRecord { name: &call.name, arguments: &call.arguments }),
            edits: result.edits.iter().map(EditRecord::from).collect(),
            help,
        }
    }

    /// Creates the record of an input that is not a call.
    pub fn not_a_call(kind: &'static str, message: &'r str, expected: &'r str) -> Self {
        let error = ErrorRecord {
            path: "",
            schema_path: "",
            kind,
            message,
            expected,
            received: "",
            suggestions: &[],
        };
        Self {
            valid: false,
            errors: vec![error],
            corrected: None,
            edits: Vec::new(),
            help: Some(format!("{message} Expected {expected}.")),
        }
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
