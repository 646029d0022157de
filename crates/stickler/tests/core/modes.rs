//! Modes and the treatment of unlisted fields.

use serde_json::{Value, json};
use stickler::{
    McpValidator, Mode, Repair, ToolDefinition, UnknownFields, ValidationConfig, ValidationError,
    ValidationErrorKind, ValidationResult,
};

fn validate(mode: Mode, schema: Value, arguments: Value) -> ValidationResult {
    let validator = McpValidator::new(ValidationConfig::in_mode(mode));
    let definition = ToolDefinition::new("tool").with_input_schema(schema);
    validator.cache().populate("s", &[definition]);
    validator.validate("s", "tool", &arguments)
}

/// A schema that is silent about other fields.
fn silent() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "dry_run": { "type": "boolean" },
            "options": { "type": "object", "properties": { "depth": { "type": "integer" } } }
        },
        "required": ["path"]
    })
}

#[test]
fn modes_set_the_defaults_of_a_configuration() {
    assert_eq!(ValidationConfig::in_mode(Mode::Enforce), ValidationConfig::default());
    let assist = ValidationConfig::in_mode(Mode::Assist);
    assert_eq!(
        (assist.repair, assist.unknown_fields),
        (Repair::Apply, UnknownFields::RejectMistakes)
    );
    let observe = ValidationConfig::in_mode(Mode::Observe);
    assert_eq!((observe.repair, observe.enhance_errors), (Repair::Off, false));
}

#[test]
fn assist_accepts_and_reports_fields_that_resemble_no_other() {
    for sent in [
        json!({ "path": "a", "zebra": 1 }),
        json!({ "path": "a", "options": { "depth": 1, "zebra": true } }),
    ] {
        let result = validate(Mode::Assist, silent(), sent.clone());
        assert!(result.is_valid && !result.repaired, "{sent}");
        let tolerated: Vec<&str> = result.tolerated().iter().map(|one| one.kind.name()).collect();
        assert_eq!(tolerated, ["unknown_field"], "{sent}");
        assert!(!validate(Mode::Enforce, silent(), sent).is_valid);
    }
}

#[test]
fn assist_rejects_fields_that_are_probably_mistakes() {
    for sent in [
        // It resembles an optional field, which would be ignored.
        json!({ "path": "a", "dry_rum": true }),
        // A required field is missing.
        json!({ "zebra": 1 }),
        // The call is invalid for another reason.
        json!({ "path": {}, "zebra": 1 }),
    ] {
        let result = validate(Mode::Assist, silent(), sent.clone());
        assert!(!result.is_valid && result.tolerated().is_empty(), "{sent}");
    }
}

#[test]
fn assist_obeys_a_schema_that_forbids_other_fields() {
    let mut closed = silent();
    closed["additionalProperties"] = json!(false);
    let result = validate(Mode::Assist, closed, json!({ "path": "a", "zebra": 1 }));
    assert!(!result.is_valid);
}

#[test]
fn assist_repairs_only_what_is_beyond_doubt() {
    let repaired = validate(Mode::Assist, silent(), json!({ "Path": "a", "dry_run": "true" }));
    assert!(repaired.is_valid && repaired.repaired && repaired.tolerated().is_empty());
    let sent: Value = serde_json::from_str(repaired.arguments().unwrap().get()).unwrap();
    assert_eq!(sent, json!({ "path": "a", "dry_run": true }));
    let renamed = validate(Mode::Assist, silent(), json!({ "filepath": "a" }));
    assert!(!renamed.is_valid && renamed.corrected.is_some());
}

#[test]
fn help_prompt_can_be_built_from_errors_of_another_check() {
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("s", &[ToolDefinition::new("tool").with_input_schema(silent())]);
    let kind = ValidationErrorKind::InvalidValue { reason: "is outside of the root".to_owned() };
    let error = ValidationError::new("/path", kind, "`/path` is outside of the root.");
    let result = ValidationResult::from_errors(vec![error]);
    let help = validator.build_help_prompt("s", "tool", &result).to_string();
    assert!(
        help.contains("`/path` is outside of the root.") && help.contains("## Required Fields")
    );
}
