//! Which wrong calls a tool can be given without harm.
//!
//! A tool that says that it only reads is given calls that are wrong in one place. Any other tool is
//! only given calls in which every required field is missing or `null`: Stickler's own check refuses
//! them, and even a server that checks nothing has nothing to act on. Where that cannot be had, the
//! tool is not called at all.

use serde_json::{Map, Value, json};
use stickler::{CachedSchema, McpValidator};

use super::SERVER;

/// One wrong call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrongCall {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
    /// The fields that are wrong; an answer that names one of them is clear.
    pub(super) fields: Vec<String>,
}

pub(super) const MISSING: &str = "missing field";
pub(super) const WRONG_TYPE: &str = "wrong type";
pub(super) const UNKNOWN_FIELD: &str = "unknown field";

/// The wrong calls for a tool, or why there are none.
pub(super) fn plan(tool: &Value, validator: &McpValidator) -> Result<Vec<WrongCall>, &'static str> {
    let name = tool["name"].as_str().unwrap_or_default();
    let cached = validator.cache().get(SERVER, name);
    let cached = cached.ok_or("its schema is missing or cannot be used")?;
    if tool["execution"]["taskSupport"] == "required" {
        return Err("it can only be called as a task");
    }
    let says = |hint: &str| tool["annotations"][hint] == true;
    if says("readOnlyHint") && says("destructiveHint") {
        return Err("its annotations contradict each other");
    }
    let calls = if says("readOnlyHint") {
        reading(&cached)?
    } else if says("destructiveHint") {
        return Err("it says that it can destroy something");
    } else {
        changing(&cached)?
    };
    let refused = calls.into_iter().filter(|call| is_refused(validator, name, call));
    let calls: Vec<WrongCall> = refused.collect();
    if calls.is_empty() { Err("no call of it would be wrong") } else { Ok(calls) }
}

/// Whether our own check refuses the call, and because of all the fields that are meant.
fn is_refused(validator: &McpValidator, tool: &str, call: &WrongCall) -> bool {
    let result = validator.validate(SERVER, tool, &call.arguments);
    let is_told = |field: &String| {
        result.errors.iter().any(|error| error.path.trim_start_matches('/') == field)
    };
    !result.is_valid && call.fields.iter().all(is_told)
}

/// For a tool that only reads: one mistake in a call that is right otherwise.
fn reading(cached: &CachedSchema) -> Result<Vec<WrongCall>, &'static str> {
    let right = cached.example().and_then(Value::as_object);
    let right = right.ok_or("no valid call is known to start from")?;
    let mut calls = Vec::new();
    if let Some(field) = cached.required.first() {
        let mut arguments = right.clone();
        arguments.remove(field);
        calls.push(wrong(MISSING, arguments, field));
    }
    if let Some(field) = cached.required.first().or_else(|| right.keys().next()) {
        let odd = [json!({ "stickler": "probe" }), json!([["stickler"]]), json!("stickler")];
        calls.extend(odd.into_iter().find_map(|value| {
            let mut arguments = right.clone();
            arguments.insert(field.clone(), value);
            let arguments_value = Value::Object(arguments.clone());
            (!cached.accepts(&arguments_value)).then(|| wrong(WRONG_TYPE, arguments, field))
        }));
    }
    let optional = cached.properties.iter().find(|name| !right.contains_key(*name));
    let misspelt = optional.map_or_else(|| "stickler_probe".to_owned(), |name| misspell(name));
    let mut arguments = right.clone();
    arguments.insert(misspelt.clone(), json!("stickler"));
    calls.push(wrong(UNKNOWN_FIELD, arguments, &misspelt));
    Ok(calls)
}

/// For a tool that may change something: nothing of what it needs.
fn changing(cached: &CachedSchema) -> Result<Vec<WrongCall>, &'static str> {
    if cached.required.is_empty() {
        return Err("every field is optional, so a lenient server could carry out any call");
    }
    if !cached.required.iter().any(|field| says_on_what(&cached.raw, field)) {
        return Err("what is required is only a choice, so a lenient server could carry it out");
    }
    let fields = cached.required.clone();
    let nothing = fields.iter().map(|field| (field.clone(), Value::Null)).collect();
    Ok(vec![
        WrongCall { name: MISSING, arguments: json!({}), fields: fields.clone() },
        WrongCall { name: WRONG_TYPE, arguments: Value::Object(nothing), fields },
    ])
}

/// A field with a text, number, list or object says what to act on; a switch or a choice only how.
fn says_on_what(schema: &Value, field: &str) -> bool {
    let part = &schema["properties"][field];
    let is_open =
        part.get("enum").is_none() && part.get("const").is_none() && part.get("default").is_none();
    let kinds = ["string", "number", "integer", "array", "object"];
    is_open && part["type"].as_str().is_some_and(|kind| kinds.contains(&kind))
}

fn wrong(name: &'static str, arguments: Map<String, Value>, field: &str) -> WrongCall {
    WrongCall { name, arguments: Value::Object(arguments), fields: vec![field.to_owned()] }
}

/// As a model misspells: the last letter twice.
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
    fn a_tool_that_reads_gets_one_mistake_at_a_time() {
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
    fn any_other_tool_gets_nothing_to_act_on() {
        let properties = json!({ "path": { "type": "string" }, "force": { "type": "boolean" } });
        for annotations in [json!(null), json!({ "readOnlyHint": false })] {
            let tool = tool(&annotations, &properties, &json!(["path", "force"]));
            let nothing = json!({ "path": null, "force": null });
            assert_eq!(planned(&tool).unwrap(), [(MISSING, json!({})), (WRONG_TYPE, nothing)]);
        }
    }

    #[test]
    fn tools_that_a_lenient_server_could_run_are_spared() {
        let properties = json!({
            "path": { "type": "string" }, "yes": { "type": "boolean" },
            "mode": { "type": "string", "enum": ["all", "none"] },
        });
        let spared = |annotations: Value, required: Value| {
            planned(&tool(&annotations, &properties, &required)).unwrap_err()
        };
        assert!(spared(json!(null), json!([])).contains("optional"));
        assert!(spared(json!(null), json!(["yes", "mode"])).contains("only a choice"));
        assert!(spared(json!({ "destructiveHint": true }), json!(["path"])).contains("destroy"));
        let both = json!({ "destructiveHint": true, "readOnlyHint": true });
        assert!(spared(both, json!(["path"])).contains("contradict"));
    }

    #[test]
    fn what_the_schema_allows_is_not_a_mistake() {
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
