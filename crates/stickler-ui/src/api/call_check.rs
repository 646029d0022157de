//! Validates a call that is edited in the page.

use serde::Deserialize;
use serde_json::{Value, json};
use stickler::{McpValidator, ValidationResult};

use crate::api::definitions::SERVER;

/// A call as it is in the editor.
#[derive(Debug, Deserialize)]
pub(crate) struct EditedCall {
    pub(crate) session: usize,
    pub(crate) tool: String,
    /// JSON text, which may be unfinished.
    pub(crate) arguments: String,
}

/// Returns the result in the form of `stickler validate --format json`, and the position of a syntax error.
pub(crate) fn check(validator: Option<&McpValidator>, call: &EditedCall) -> Value {
    let Some(validator) = validator else {
        return json!({ "known": false, "message": "The recording has no tool list, so there is nothing to validate against." });
    };
    match validator.validate_text(SERVER, &call.tool, Some(call.arguments.as_bytes())) {
        Ok(result) => of(validator, &call.tool, &result),
        Err(error) => json!({
            "known": true,
            "valid": false,
            "errors": [{ "path": "", "kind": "invalid_json", "message": format!("Not JSON yet: {error}."), "suggestions": [] }],
            "edits": [],
        }),
    }
}

fn of(validator: &McpValidator, tool: &str, result: &ValidationResult) -> Value {
    let errors: Vec<Value> = result
        .errors
        .iter()
        .map(|error| {
            json!({
                "path": error.path,
                "kind": error.kind.name(),
                "message": error.message,
                "expected": error.expected,
                "received": error.received,
                "suggestions": error.suggestions(),
            })
        })
        .collect();
    let edits: Vec<Value> = result
        .edits
        .iter()
        .map(|edit| json!({ "edit": edit.kind.name(), "path": edit.path, "from": edit.from, "to": edit.to }))
        .collect();
    let corrected = result.corrected.as_ref();
    json!({
        "known": true,
        "valid": result.is_valid,
        "errors": errors,
        "edits": edits,
        // As text: numbers keep their digits.
        "corrected": corrected.map(|call| json!({ "name": call.name, "arguments": call.arguments.get() })),
        "unchecked": result.unchecked,
        "help": (!result.is_valid).then(|| validator.build_help_prompt(SERVER, tool, result).to_string()),
    })
}
