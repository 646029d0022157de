//! Result of validating one call.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::arguments::{McpValidator, ValidationError, ValidationResult};

/// The report about one call in the result of the validation tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ValidationReport {
    /// Whether the call is valid.
    pub valid: bool,
    /// The reasons why the call is invalid.
    #[serde(default)]
    pub errors: Vec<String>,
    /// Problems that do not make the call invalid.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Suggested corrections.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// The errors in a machine-readable form.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl ValidationReport {
    /// Creates a report from the result of a validator.
    pub fn of(validator: &McpValidator, server: &str, result: &ValidationResult) -> Self {
        let tools_known = validator.cache().freshness(server).is_some();
        let unchecked = result.unchecked.clone().or_else(|| {
            (!tools_known).then(|| {
                "the tools of the server are not known yet; nothing was validated".to_owned()
            })
        });
        let corrected = result.corrected.as_ref().filter(|_| !validator.config().mask_values);
        let corrected = corrected.map(|call| {
            let arguments: Value = serde_json::from_str(call.arguments.get()).unwrap_or_default();
            json!({ "name": call.name, "arguments": arguments })
        });
        let details: Vec<Value> = result.errors.iter().map(detail).collect();
        let suggestions = result.errors.iter().flat_map(ValidationError::suggestions).cloned();
        Self {
            valid: result.is_valid,
            errors: result.errors.iter().map(|error| error.message.clone()).collect(),
            warnings: unchecked.into_iter().collect(),
            suggestions: suggestions.collect(),
            details: json!({ "level": "syntax", "errors": details, "corrected": corrected }),
        }
    }
}

fn detail(error: &ValidationError) -> Value {
    json!({
        "path": error.path,
        "kind": error.kind.name(),
        "message": error.message,
        "expected": error.expected,
        "received": error.received,
    })
}
