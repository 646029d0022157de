//! Keys that clients add to the arguments of a call: ignored where the schema does not mention other fields,
//! removed where it forbids them.

use serde_json::{Value, json};
use stickler::{
    EditKind, McpValidator, Repair, ToolDefinition, ValidationConfig, ValidationResult,
};

fn validate_with(config: ValidationConfig, schema: &Value, text: &str) -> ValidationResult {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("t").with_input_schema(schema.clone());
    validator.cache().populate("s", &[tool]);
    validator.validate_text("s", "t", Some(text.as_bytes())).unwrap()
}

fn validate(schema: &Value, text: &str) -> ValidationResult {
    validate_with(ValidationConfig::default(), schema, text)
}

fn silent() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
}

fn closed() -> Value {
    let mut schema = silent();
    schema["additionalProperties"] = json!(false);
    schema
}

#[test]
fn built_in_keys_are_forwarded_where_the_schema_is_silent() {
    for call in
        [r#"{"path":"a","task_progress":"- [x] done"}"#, r#"{"random_string":"x","path":"a"}"#]
    {
        let result = validate(&silent(), call);
        assert!(result.is_valid && !result.repaired, "{call}");
        assert!(
            result.errors.is_empty() && result.edits.is_empty() && result.arguments().is_none()
        );
    }
    let combined = json!({ "allOf": [silent()], "properties": { "mode": { "type": "string" } } });
    assert!(validate(&combined, r#"{"path":"a","task_progress":"x"}"#).is_valid);
}

#[test]
fn built_in_keys_are_removed_where_the_schema_forbids_them() {
    for repair in [Repair::Off, Repair::Suggest, Repair::Apply] {
        let mut config = ValidationConfig::default();
        config.repair = repair;
        let call = r#"{"task_progress":"- [x] done","path":"a","random_string":"x"}"#;
        let result = validate_with(config, &closed(), call);
        assert!(result.is_valid && result.repaired, "{repair:?}");
        assert_eq!(result.arguments().unwrap().get(), r#"{"path":"a"}"#, "{repair:?}");
        let edits: Vec<_> =
            result.edits.iter().map(|edit| (edit.kind, edit.path.as_str())).collect();
        let removal = EditKind::StripInjected;
        assert_eq!(edits, [(removal, "/random_string"), (removal, "/task_progress")]);
    }
}

#[test]
fn dummy_argument_of_a_tool_without_parameters_is_removed() {
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let result = validate(&schema, r#"{"random_string":"dummy"}"#);
    assert_eq!(result.arguments().unwrap().get(), "{}");
}

#[test]
fn key_that_the_schema_lists_is_an_ordinary_field() {
    let schema = json!({
        "type": "object",
        "properties": { "task_progress": { "type": "string" } },
        "additionalProperties": false
    });
    assert!(validate(&schema, r#"{"task_progress":"x"}"#).arguments().is_none());
    assert!(!validate(&schema, r#"{"task_progress":1}"#).is_valid);
}

#[test]
fn configured_keys_are_treated_like_the_built_in_ones() {
    let mut config = ValidationConfig::default();
    config.injected_keys = vec!["_session".to_owned()];
    let call = r#"{"_session":"s","path":"a","task_progress":"x"}"#;
    let result = validate_with(config.clone(), &silent(), call);
    assert!(result.is_valid && result.arguments().is_none());
    let result = validate_with(config, &closed(), call);
    assert_eq!(result.arguments().unwrap().get(), r#"{"path":"a"}"#);
    assert!(!validate(&silent(), call).is_valid, "the key is not inferred from its form");
}

#[test]
fn key_in_a_nested_object_is_an_unknown_field() {
    let schema = json!({ "properties": { "options": { "properties": { "a": {} } } } });
    let result = validate(&schema, r#"{"options":{"task_progress":"x"}}"#);
    assert_eq!(result.errors[0].path, "/options/task_progress");
}

#[test]
fn removed_keys_are_not_among_the_problems_of_a_rejected_call() {
    let result = validate(&closed(), r#"{"path":1,"task_progress":"x"}"#);
    assert!(!result.is_valid);
    let paths: Vec<&str> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["/path"]);
    assert_eq!(result.corrected.unwrap().arguments.get(), r#"{"path":"1"}"#);
}

#[test]
fn key_that_is_ignored_stays_in_the_corrected_call() {
    let result = validate(&silent(), r#"{"path":1,"task_progress":"x"}"#);
    assert_eq!(result.corrected.unwrap().arguments.get(), r#"{"path":"1","task_progress":"x"}"#);
}

#[test]
fn branches_that_forbid_other_fields_accept_the_call_without_injected_keys() {
    let branch = |name: &str| {
        json!({
            "type": "object",
            "properties": { name: { "type": "string" } },
            "required": [name],
            "additionalProperties": false
        })
    };
    let schema = json!({ "type": "object", "anyOf": [branch("id"), branch("name")] });
    let result = validate(&schema, r#"{"name":"a","task_progress":"x"}"#);
    assert!(result.is_valid, "{:?}", result.errors);
    assert_eq!(result.arguments().unwrap().get(), r#"{"name":"a"}"#);
}
