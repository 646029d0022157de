//! A failed `anyOf` or `oneOf` is explained by the branch that was meant.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use serde_json::{Value, json};
use stickler::{McpValidator, ToolDefinition, ValidationConfig};

fn told(schema: Value, arguments: Value) -> Vec<String> {
    let validator = McpValidator::new(ValidationConfig::default());
    let schema = json!({ "type": "object", "properties": { "v": schema } });
    validator.cache().populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
    let result = validator.validate("s", "t", &json!({ "v": arguments }));
    assert!(!result.is_valid);
    result.errors.iter().map(|e| format!("{} {}: {}", e.kind.name(), e.path, e.expected)).collect()
}

fn shapes() -> Value {
    json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } },
          "required": ["kind", "radius"] },
        { "type": "object", "properties": { "kind": { "const": "square" }, "side": { "type": "number" } },
          "required": ["kind", "side"] }
    ] })
}

#[test]
fn the_discriminator_decides() {
    let expected = ["type_mismatch /v/side: number"];
    assert_eq!(told(shapes(), json!({ "kind": "square", "side": "2" })), expected);
}

#[test]
fn a_misspelt_discriminator_still_points_at_its_branch() {
    let expected = ["invalid_enum /v/kind: \"circle\""];
    assert_eq!(told(shapes(), json!({ "kind": "cirlce", "radius": 1 })), expected);
}

#[test]
fn the_fields_decide_where_there_is_no_discriminator() {
    let schema = json!({ "anyOf": [
        { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] },
        { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }
    ] });
    assert_eq!(told(schema, json!({ "id": "7" })), ["type_mismatch /v/id: integer"]);
}

#[test]
fn wrong_types_are_told_together() {
    let schema =
        json!({ "anyOf": [{ "type": "string" }, { "type": "array" }, { "type": "null" }] });
    assert_eq!(told(schema, json!(5)), ["type_mismatch /v: string or array or null"]);
}

#[test]
fn constants_are_told_together() {
    let schema = json!({ "anyOf": [{ "const": "a" }, { "const": "b" }, { "type": "null" }] });
    assert_eq!(told(schema, json!("c")), ["invalid_enum /v: one of \"a\", \"b\""]);
}

#[test]
fn text_of_a_wanted_type_is_taken_for_that() {
    let schema = json!({ "anyOf": [{ "type": "number" }, { "enum": ["auto", "none"] }] });
    assert_eq!(told(schema, json!("5")), ["type_mismatch /v: number"]);
}

#[test]
fn matching_several_branches_of_one_of_is_said() {
    let schema = json!({ "oneOf": [{ "type": "integer" }, { "minimum": 0 }] });
    let expected = ["invalid_value /v: only one of the forms in the schema, not several at once"];
    assert_eq!(told(schema, json!(5)), expected);
}
