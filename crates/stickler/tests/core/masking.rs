//! Masking: messages, help and edits contain field names and types, never argument values.

use serde_json::json;
use stickler::{McpValidator, Repair, ToolDefinition, ValidationConfig};

const SECRET: &str = "hunter2-very-secret";

fn validator(repair: Repair) -> McpValidator {
    let mut config = ValidationConfig::default();
    config.mask_values = true;
    config.repair = repair;
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("login").with_input_schema(json!({
        "properties": {
            "user": { "type": "string" },
            "pin": { "type": "integer" },
            "mode": { "enum": ["safe"] },
            "tags": { "type": "array" }
        },
        "required": ["user"]
    }));
    validator.cache().populate("s", &[tool]);
    validator
}

#[test]
fn messages_help_and_edits_contain_no_values() {
    let validator = validator(Repair::Suggest);
    let arguments = json!({ "usr": SECRET, "pin": SECRET, "mode": SECRET, "tags": SECRET });
    let result = validator.validate("s", "login", &arguments);
    let help = validator.build_help_prompt("s", "login", &result);
    let observation = validator.build_retry_observation("s", "login", &result, 1).to_json();
    let written = format!("{:?} {:?} {help} {observation}", result.errors, result.edits);
    assert!(!written.contains("hunter2"), "{written}");
    for name in ["`usr`", "`pin`", "integer", "string"] {
        assert!(written.contains(name), "{name} is kept");
    }
}

#[test]
fn masked_help_omits_the_corrected_call() {
    let validator = validator(Repair::Suggest);
    let result = validator.validate("s", "login", &json!({ "usr": SECRET }));
    let help = validator.build_help_prompt("s", "login", &result);
    assert!(!help.as_str().contains("Corrected Call"), "{help}");
    let unknown = validator.validate("s", "logni", &json!({ "user": SECRET }));
    let help = validator.build_help_prompt("s", "logni", &unknown);
    assert!(!help.as_str().contains("hunter2"), "{help}");
}

#[test]
fn repaired_call_keeps_its_values() {
    let validator = validator(Repair::Apply);
    let result = validator.validate("s", "login", &json!({ "User": SECRET }));
    assert!(result.is_valid);
    assert!(result.arguments().unwrap().get().contains(SECRET));
    assert!(!format!("{:?}", result.edits).contains("hunter2"));
}
