//! Minimal reproductions of bugs found by property tests and fuzzing.

use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};
use stickler::{
    McpValidator, Repair, ToolDefinition, ValidationConfig, ValidationResult, estimate_tokens,
};

const SERVER: &str = "server";

/// A validator with one tool that applies unambiguous corrections.
fn validator(schema: Value, help_token_budget: usize) -> McpValidator {
    let mut config = ValidationConfig::default();
    config.repair = Repair::Apply;
    config.help_token_budget = help_token_budget;
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("search_files").with_input_schema(schema);
    validator.cache().populate(SERVER, &[tool]);
    validator
}

fn check(validator: &McpValidator, tool: &str, arguments: &str) -> ValidationResult {
    let result = validator.validate_text(SERVER, tool, Some(arguments.as_bytes()));
    result.unwrap_or_default()
}

#[test]
fn correction_adds_no_duplicate_keys_or_out_of_range_numbers() {
    let validator =
        validator(json!({ "properties": { "limit": { "type": ["object", "array"] } } }), 500);
    for arguments in [
        r#"{"limit": "{\"a\": 1, \"a\": 2}"}"#,
        r#"{"limit": "[1e999]"}"#,
        r#""{\"limit\": [], \"limit\": []}""#,
    ] {
        if let Some(corrected) = check(&validator, "search_files", arguments).corrected {
            let again = check(&validator, &corrected.name, corrected.arguments.get());
            assert!(again.is_valid, "{arguments} became {}", corrected.arguments.get());
        }
    }
}

#[test]
fn whitespace_does_not_affect_correction() {
    let schema = json!({
        "properties": { "a": { "type": "string" }, "b": { "default": 1 } }, "required": ["b"]
    });
    let validator = validator(schema, 500);
    for arguments in [r#"{"a":null}"#, r#"{"a":null }"#, r#"{ "a" : null }"#] {
        assert!(check(&validator, "search_files", arguments).corrected.is_some(), "{arguments}");
    }
}

#[test]
fn forbidden_field_with_a_slash_is_named_unescaped() {
    let validator = validator(json!({ "properties": { "a/b": false } }), 500);
    let result = check(&validator, "search_files", r#"{"a/b": 1}"#);
    let paths: Vec<_> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["/a~1b"]);
    assert!(result.errors[0].message.contains("`a/b`"), "{}", result.errors[0].message);
}

#[test]
fn unknown_tool_help_with_a_corrected_call_stays_within_its_budget() {
    for budget in [60, 70, 80, 90, 100, 150] {
        let validator = validator(json!({ "properties": {} }), budget);
        let result = check(&validator, "search_file", "{}");
        assert!(result.corrected.is_some());
        let help = validator.build_help_prompt(SERVER, "search_file", &result);
        let tokens = estimate_tokens(help.as_str());
        assert!(tokens <= budget, "{tokens} tokens for {budget}:\n{help}");
    }
}

#[test]
fn argument_cannot_close_the_code_fence_of_the_corrected_call() {
    let validator = validator(json!({ "properties": { "path": { "type": "string" } } }), 500);
    // A JSON string contains no line break, but a fence on the same line is still ambiguous.
    let result = check(&validator, "search_file", r#"{"path": "```"}"#);
    let help = validator.build_help_prompt(SERVER, "search_file", &result).to_string();
    assert!(help.contains("## Corrected Call\n````json\n"), "{help}");
}

#[test]
fn json_pointers_follow_rfc_6901() {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(b"[7, -0]", 1).unwrap();
    for (pointer, found) in
        [("/0", true), ("/00", false), ("/+0", false), ("0", false), ("/", false)]
    {
        assert_eq!(tape.root().pointer(pointer).is_some(), found, "{pointer:?}");
    }
    assert_eq!(tape.root().pointer("/1").map(Node::to_value), Some(json!(-0.0)));
}
