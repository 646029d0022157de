//! Mistakes that random tests and fuzzing found, each in its smallest form.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};
use stickler::{
    McpValidator, Repair, ToolDefinition, ValidationConfig, ValidationResult, estimate_tokens,
};

const SERVER: &str = "server";

/// A validator that corrects where that is beyond doubt, with one tool.
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
fn a_correction_brings_in_no_key_twice_and_no_number_past_a_double() {
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
fn spacing_makes_no_difference_to_whether_a_call_can_be_corrected() {
    let schema = json!({
        "properties": { "a": { "type": "string" }, "b": { "default": 1 } }, "required": ["b"]
    });
    let validator = validator(schema, 500);
    for arguments in [r#"{"a":null}"#, r#"{"a":null }"#, r#"{ "a" : null }"#] {
        assert!(check(&validator, "search_files", arguments).corrected.is_some(), "{arguments}");
    }
}

#[test]
fn a_forbidden_field_with_a_slash_in_its_name_is_named_as_it_is() {
    let validator = validator(json!({ "properties": { "a/b": false } }), 500);
    let result = check(&validator, "search_files", r#"{"a/b": 1}"#);
    let told: Vec<_> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(told, ["/a~1b"]);
    assert!(result.errors[0].message.contains("`a/b`"), "{}", result.errors[0].message);
}

#[test]
fn help_for_an_unknown_tool_keeps_to_its_budget_with_a_corrected_call_in_it() {
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
fn an_argument_cannot_close_the_fence_around_the_corrected_call() {
    let validator = validator(json!({ "properties": { "path": { "type": "string" } } }), 500);
    // In a string of JSON a line cannot end, but a fence in the same line is confusing enough.
    let result = check(&validator, "search_file", r#"{"path": "```"}"#);
    let help = validator.build_help_prompt(SERVER, "search_file", &result).to_string();
    assert!(help.contains("## Corrected Call\n````json\n"), "{help}");
}

#[test]
fn a_json_pointer_is_read_as_rfc_6901_has_it() {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(b"[7, -0]", 1).unwrap();
    for (pointer, found) in
        [("/0", true), ("/00", false), ("/+0", false), ("0", false), ("/", false)]
    {
        assert_eq!(tape.root().pointer(pointer).is_some(), found, "{pointer:?}");
    }
    assert_eq!(tape.root().pointer("/1").map(Node::to_value), Some(json!(-0.0)));
}
