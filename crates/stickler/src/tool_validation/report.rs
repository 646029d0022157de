//! What there is to say about one call.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::arguments::{McpValidator, ValidationError, ValidationResult};

/// The answer about one call, as it stands in the result of the tool that validates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ValidationReport {
    /// The call could be made.
    pub valid: bool,
    /// Why it could not, one sentence each.
    #[serde(default)]
    pub errors: Vec<String>,
    /// What does not keep it from being made.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What was probably meant, or what would be better.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// The same for programs.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl ValidationReport {
    /// What a validator found.
    pub fn of(validator: &McpValidator, server: &str, result: &ValidationResult) -> Self {
        let known = validator.cache().freshness(server).is_some();
        let unchecked = result.unchecked.clone().or_else(|| {
            (!known).then(|| "the server's tools are not known yet; nothing was checked".to_owned())
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
