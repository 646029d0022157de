//! The calls, the expert's key, and the validation of one call.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stickler::{
    McpValidator, Signals, ToolDefinition, UnknownFields, ValidationConfig, ValidationResult,
};

/// A wrong call with its key.
pub(super) struct Case {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) guess: Value,
    pub(super) key: Key,
    description: String,
    schema: Value,
}

/// What the call means.
#[derive(Debug, Deserialize)]
pub(super) struct Key {
    /// The right name of each unknown field, by its path; `null` if there is none.
    pub(super) renames: BTreeMap<String, Option<String>>,
    /// The right arguments, if they can be derived from the call.
    pub(super) right: Value,
    /// Whether experts would agree.
    pub(super) sure: bool,
}

/// A call that satisfies its schema.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValidCall {
    pub(super) server: String,
    tool: String,
    arguments: Value,
    input_schema: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    server: String,
    tool: String,
    guess: Value,
    #[serde(default)]
    description: Option<String>,
    input_schema: Value,
}

pub(super) fn load(folder: &Path) -> Result<Vec<Case>, String> {
    let written: Vec<Written> = read(&folder.join("cases.ndjson"))?;
    let keys: Vec<Key> = read(&folder.join("key.ndjson"))?;
    if written.len() != keys.len() {
        return Err(format!("{} cases, but {} keys", written.len(), keys.len()));
    }
    let cases = written.into_iter().zip(keys).map(|(written, key)| Case {
        server: written.server,
        tool: written.tool,
        guess: written.guess,
        key,
        description: written.description.unwrap_or_default(),
        schema: written.input_schema,
    });
    Ok(cases.collect())
}

pub(super) fn load_valid(folder: &Path) -> Result<Vec<ValidCall>, String> {
    read(&folder.join("valid.ndjson"))
}

/// Reads a file of one JSON text per line.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display()))
        })
        .collect()
}

impl Case {
    pub(super) fn validate(&self, signals: Signals) -> ValidationResult {
        let mut config = ValidationConfig::default();
        config.signals = signals;
        let tool = ToolDefinition::new(&self.tool)
            .with_description(&self.description)
            .with_input_schema(self.schema.clone());
        validate(config, tool, &self.guess)
    }

    /// Returns whether the key drops a field that says something: a corrected call must not.
    pub(super) fn loses_meaning(&self) -> bool {
        let dropped = self.key.renames.iter().filter(|(_, name)| name.is_none());
        let mut values = dropped.filter_map(|(path, _)| self.guess.pointer(path));
        values.any(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        })
    }
}

impl ValidCall {
    /// Returns why the call is rejected, or `None` if it is accepted.
    pub(super) fn rejection(&self, unknown_fields: UnknownFields) -> Option<String> {
        let tool = ToolDefinition::new(&self.tool).with_input_schema(self.input_schema.clone());
        let mut config = ValidationConfig::default();
        config.unknown_fields = unknown_fields;
        let result = validate(config, tool, &self.arguments);
        let error = result.errors.first().filter(|_| !result.is_valid)?;
        Some(format!("{}/{}: {}", self.server, self.tool, error.message))
    }
}

fn validate(config: ValidationConfig, tool: ToolDefinition, arguments: &Value) -> ValidationResult {
    let validator = McpValidator::new(config);
    let name = tool.name.clone();
    validator.cache().populate("server", &[tool]);
    validator.validate("server", &name, arguments)
}
