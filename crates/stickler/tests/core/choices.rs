//! A failed `anyOf` or `oneOf` is explained by the closest branch.

use serde_json::{Value, json};
use stickler::{McpValidator, ToolDefinition, ValidationConfig};

fn describe_errors(schema: Value, arguments: Value) -> Vec<String> {
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
fn discriminator_selects_the_branch() {
    let expected = ["type_mismatch /v/side: number"];
    assert_eq!(describe_errors(shapes(), json!({ "kind": "square", "side": "2" })), expected);
}

#[test]
fn misspelt_discriminator_selects_the_closest_branch() {
    let expected = ["invalid_enum /v/kind: \"circle\""];
    assert_eq!(describe_errors(shapes(), json!({ "kind": "cirlce", "radius": 1 })), expected);
}

#[test]
fn field_names_select_the_branch_without_a_discriminator() {
    let schema = json!({ "anyOf": [
        { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] },
        { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }
    ] });
    assert_eq!(describe_errors(schema, json!({ "id": "7" })), ["type_mismatch /v/id: integer"]);
}

#[test]
fn type_mismatches_of_branches_are_combined() {
    let schema =
        json!({ "anyOf": [{ "type": "string" }, { "type": "array" }, { "type": "null" }] });
    assert_eq!(describe_errors(schema, json!(5)), ["type_mismatch /v: string or array or null"]);
}

#[test]
fn constants_of_branches_are_combined() {
    let schema = json!({ "anyOf": [{ "const": "a" }, { "const": "b" }, { "type": "null" }] });
    assert_eq!(describe_errors(schema, json!("c")), ["invalid_enum /v: one of \"a\", \"b\""]);
}

#[test]
fn stringified_value_selects_the_branch_of_its_type() {
    let schema = json!({ "anyOf": [{ "type": "number" }, { "enum": ["auto", "none"] }] });
    assert_eq!(describe_errors(schema, json!("5")), ["type_mismatch /v: number"]);
}

#[test]
fn match_of_several_one_of_branches_is_reported() {
    let schema = json!({ "oneOf": [{ "type": "integer" }, { "minimum": 0 }] });
    let expected = ["invalid_value /v: exactly one of the schema's alternatives, not several"];
    assert_eq!(describe_errors(schema, json!(5)), expected);
}
