//! Selects invalid calls that a tool can receive without side effects.
//!
//! A read-only tool receives calls with a single invalid field. Any other tool only receives calls in which
//! every required field is missing or `null`: Stickler rejects them, and a server that validates nothing has
//! nothing to act on. A tool for which no call meets this condition is not called.

use serde_json::{Map, Value, json};
use stickler::{CachedSchema, McpValidator};

use super::SERVER;

/// An invalid call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InvalidCall {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
    /// The invalid fields; a response that names one of them is graded as clear.
    pub(super) fields: Vec<String>,
}

pub(super) const MISSING: &str = "missing field";
pub(super) const WRONG_TYPE: &str = "wrong type";
pub(super) const UNKNOWN_FIELD: &str = "unknown field";

/// Returns the invalid calls for a tool, or why there are none.
pub(super) fn plan(
    tool: &Value,
    validator: &McpValidator,
) -> Result<Vec<InvalidCall>, &'static str> {
    let name = tool["name"].as_str().unwrap_or_default();
    let cached = validator.cache().get(SERVER, name);
    let cached = cached.ok_or("its schema is missing or unusable")?;
    if tool["execution"]["taskSupport"] == "required" {
        return Err("it can only be called as a task");
    }
    let declares = |hint: &str| tool["annotations"][hint] == true;
    if declares("readOnlyHint") && declares("destructiveHint") {
        return Err("its annotations contradict each other");
    }
    let calls = if declares("readOnlyHint") {
        read_only_calls(&cached)?
    } else if declares("destructiveHint") {
        return Err("its annotations declare it destructive");
    } else {
        mutating_calls(&cached)?
    };
    let rejected = calls.into_iter().filter(|call| is_rejected(validator, name, call));
    let calls: Vec<InvalidCall> = rejected.collect();
    if calls.is_empty() { Err("no call to it would be invalid") } else { Ok(calls) }
}

/// Whether the validator rejects the call and reports all intended fields.
fn is_rejected(validator: &McpValidator, tool: &str, call: &InvalidCall) -> bool {
    let result = validator.validate(SERVER, tool, &call.arguments);
    let is_reported = |field: &String| {
        result.errors.iter().any(|error| error.path.trim_start_matches('/') == field)
    };
    !result.is_valid && call.fields.iter().all(is_reported)
}

/// Calls for a read-only tool: a valid call with one mistake.
fn read_only_calls(cached: &CachedSchema) -> Result<Vec<InvalidCall>, &'static str> {
    let valid = cached.example().and_then(Value::as_object);
    let valid = valid.ok_or("no valid example call is available")?;
    let mut calls = Vec::new();
    if let Some(field) = cached.required.first() {
        let mut arguments = valid.clone();
        arguments.remove(field);
        calls.push(invalid_call(MISSING, arguments, field));
    }
    if let Some(field) = cached.required.first().or_else(|| valid.keys().next()) {
        let invalid_values =
            [json!({ "stickler": "probe" }), json!([["stickler"]]), json!("stickler")];
        calls.extend(invalid_values.into_iter().find_map(|value| {
            let mut arguments = valid.clone();
            arguments.insert(field.clone(), value);
            let arguments_value = Value::Object(arguments.clone());
            (!cached.accepts(&arguments_value)).then(|| invalid_call(WRONG_TYPE, arguments, field))
        }));
    }
    let optional = cached.properties.iter().find(|name| !valid.contains_key(*name));
    let misspelt = optional.map_or_else(|| "stickler_probe".to_owned(), |name| misspell(name));
    let mut arguments = valid.clone();
    arguments.insert(misspelt.clone(), json!("stickler"));
    calls.push(invalid_call(UNKNOWN_FIELD, arguments, &misspelt));
    Ok(calls)
}

/// Calls for a tool that may have side effects: no required field has a value.
fn mutating_calls(cached: &CachedSchema) -> Result<Vec<InvalidCall>, &'static str> {
    if cached.required.is_empty() {
        return Err("every field is optional, so a lenient server could execute any call");
    }
    if !cached.required.iter().any(|field| identifies_target(&cached.raw, field)) {
        return Err(
            "its required fields only select options, so a lenient server could execute the call",
        );
    }
    let fields = cached.required.clone();
    let nothing = fields.iter().map(|field| (field.clone(), Value::Null)).collect();
    Ok(vec![
        InvalidCall { name: MISSING, arguments: json!({}), fields: fields.clone() },
        InvalidCall { name: WRONG_TYPE, arguments: Value::Object(nothing), fields },
    ])
}

/// Whether a field identifies what to act on (string, number, array, object) rather than how (boolean, enum).
fn identifies_target(schema: &Value, field: &str) -> bool {
    let part = &schema["properties"][field];
    let is_open =
        part.get("enum").is_none() && part.get("const").is_none() && part.get("default").is_none();
    let kinds = ["string", "number", "integer", "array", "object"];
    is_open && part["type"].as_str().is_some_and(|kind| kinds.contains(&kind))
}

fn invalid_call(name: &'static str, arguments: Map<String, Value>, field: &str) -> InvalidCall {
    InvalidCall { name, arguments: Value::Object(arguments), fields: vec![field.to_owned()] }
}

/// Misspells a name as a model might: repeats the last letter.
fn misspell(name: &str) -> String {
    let last = name.chars().next_back().unwrap_or('x');
    format!("{name}{last}")
}

#[cfg(test)]
mod tests {
    use super::{MISSING, UNKNOWN_FIELD, WRONG_TYPE, plan};
    use crate::commands::check::live::SERVER;
    use serde_json::{Value, json};
    use stickler::{McpValidator, ToolDefinition, ValidationConfig};

    fn planned(tool: &Value) -> Result<Vec<(&'static str, Value)>, &'static str> {
        let validator = McpValidator::new(ValidationConfig::default());
        let definition = ToolDefinition::new("t").with_input_schema(tool["inputSchema"].clone());
        validator.cache().populate(SERVER, &[definition]);
        let calls = plan(tool, &validator)?;
        Ok(calls.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    fn tool(annotations: &Value, properties: &Value, required: &Value) -> Value {
        json!({ "name": "t", "annotations": annotations, "inputSchema": {
            "type": "object", "properties": properties, "required": required,
        } })
    }

    #[test]
    fn read_only_tool_gets_one_mistake_per_call() {
        let properties = json!({ "path": { "type": "string" }, "tail": { "type": "integer" } });
        let tool = tool(&json!({ "readOnlyHint": true }), &properties, &json!(["path"]));
        let calls = planned(&tool).unwrap();
        let names: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [MISSING, WRONG_TYPE, UNKNOWN_FIELD]);
        assert!(calls[0].1.get("path").is_none());
        assert!(calls[1].1["path"].is_object());
        assert!(calls[2].1.get("taill").is_some() && calls[2].1["path"].is_string());
    }

    #[test]
    fn other_tool_gets_no_required_values() {
        let properties = json!({ "path": { "type": "string" }, "force": { "type": "boolean" } });
        for annotations in [json!(null), json!({ "readOnlyHint": false })] {
            let tool = tool(&annotations, &properties, &json!(["path", "force"]));
            let nothing = json!({ "path": null, "force": null });
            assert_eq!(planned(&tool).unwrap(), [(MISSING, json!({})), (WRONG_TYPE, nothing)]);
        }
    }

    #[test]
    fn tool_that_a_lenient_server_could_execute_is_not_called() {
        let properties = json!({
            "path": { "type": "string" }, "yes": { "type": "boolean" },
            "mode": { "type": "string", "enum": ["all", "none"] },
        });
        let skipped = |annotations: Value, required: Value| {
            planned(&tool(&annotations, &properties, &required)).unwrap_err()
        };
        assert!(skipped(json!(null), json!([])).contains("optional"));
        assert!(skipped(json!(null), json!(["yes", "mode"])).contains("only select options"));
        assert!(
            skipped(json!({ "destructiveHint": true }), json!(["path"])).contains("destructive")
        );
        let both = json!({ "destructiveHint": true, "readOnlyHint": true });
        assert!(skipped(both, json!(["path"])).contains("contradict"));
    }

    #[test]
    fn call_that_the_schema_allows_is_not_planned() {
        let mut open = tool(&json!({ "readOnlyHint": true }), &json!({}), &json!([]));
        open["inputSchema"]["additionalProperties"] = true.into();
        assert!(planned(&open).is_err());
        let nullable =
            json!({ "path": { "type": ["string", "null"] }, "to": { "type": "string" } });
        let tool = tool(&json!(null), &nullable, &json!(["path", "to"]));
        let names: Vec<&str> = planned(&tool).unwrap().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [MISSING]);
    }
}
