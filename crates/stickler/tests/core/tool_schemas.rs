//! The tools named in the source documents, with strict schemas.

use serde_json::json;
use stickler::{McpValidator, ToolDefinition, ValidationConfig, ValidationErrorKind};

fn files() -> McpValidator {
    let strict = |properties: serde_json::Value, required: &[&str]| {
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false
        })
    };
    let text = || json!({ "type": "string" });
    let tools = [
        ("read_file", strict(json!({ "path": text() }), &["path"])),
        ("write_file", strict(json!({ "path": text(), "content": text() }), &["path", "content"])),
        ("run_tests", strict(json!({ "filter": text() }), &[])),
        ("db_query", strict(json!({ "sql": text() }), &["sql"])),
        ("git_commit", strict(json!({ "message": text() }), &["message"])),
    ];
    let validator = McpValidator::new(ValidationConfig::default());
    for (name, schema) in tools {
        let tool = ToolDefinition::new(name).with_input_schema(schema);
        validator.register_tool_schema("files", &tool).expect("every schema compiles");
    }
    validator
}

#[test]
fn read_file_with_a_number_for_its_path_expects_a_string() {
    let result = files().validate("files", "read_file", &json!({ "path": 123 }));
    assert!(!result.is_valid);
    assert_eq!(result.errors[0].path, "/path");
    assert_eq!(result.errors[0].expected, "string");
}

#[test]
fn write_file_with_both_fields_is_valid() {
    let arguments = json!({ "path": "/tmp/a.txt", "content": "hello" });
    assert!(files().validate("files", "write_file", &arguments).is_valid);
}

#[test]
fn missing_fields_wrong_types_and_extra_properties_are_rejected() {
    let validator = files();
    let result = validator.validate("files", "write_file", &json!({ "content": 5, "extra": true }));
    let kinds: Vec<&str> = result.errors.iter().map(|error| error.kind.name()).collect();
    assert_eq!(kinds, ["unknown_field", "missing_required", "type_mismatch"]);
    assert!(result.errors.iter().all(|error| {
        !error.path.is_empty() && !error.message.is_empty() && !error.expected.is_empty()
    }));
}

#[test]
fn unregistered_tool_is_an_unknown_tool_error() {
    let validator = files();
    let error = validator.require_tool("files", "non_existent_tool").unwrap_err();
    assert!(error.to_string().contains("Unknown tool: non_existent_tool"));
    let result = validator.validate("files", "non_existent_tool", &json!({}));
    assert!(matches!(result.errors[0].kind, ValidationErrorKind::UnknownTool { .. }));
    assert_eq!(result.errors[0].message, "Unknown tool: non_existent_tool");
    let help = validator.build_help_prompt("files", "non_existent_tool", &result);
    for name in ["read_file", "write_file", "run_tests", "db_query", "git_commit"] {
        assert!(help.as_str().contains(name), "{name}");
    }
    assert_eq!(error.help, help.as_str());
}

#[test]
fn rejected_call_does_not_affect_the_next_one() {
    let validator = files();
    for (tool, bad) in [
        ("read_file", json!({ "path": 123 })),
        ("read_file", json!(null)),
        ("read_file", json!([[[]]])),
        ("non_existent_tool", json!({})),
    ] {
        assert!(!validator.validate("files", tool, &bad).is_valid, "{tool} {bad}");
        assert!(validator.validate("files", "read_file", &json!({ "path": "a" })).is_valid);
    }
}

#[test]
fn registered_schemas_are_compiled_once() {
    let validator = files();
    let before = validator.cache().get("files", "read_file").unwrap();
    for _ in 0..100 {
        validator.validate("files", "read_file", &json!({ "path": 1 }));
    }
    let after = validator.cache().get("files", "read_file").unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &after));
}
