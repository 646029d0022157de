//! Which objects are closed to unknown fields, after all applicable subschemas are combined.

use serde_json::{Value, json};
use stickler::{McpValidator, ToolDefinition, UnknownFields, ValidationConfig};

const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

fn unknown(config: ValidationConfig, schema: &Value, arguments: &Value) -> Vec<String> {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("t").with_input_schema(schema.clone());
    validator.cache().populate("s", &[tool]);
    assert_eq!(validator.cache().compile_all("s"), []);
    let result = validator.validate("s", "t", arguments);
    result.errors.into_iter().map(|error| error.path).collect()
}

/// The rejected paths; asserts that they are the same in every dialect.
fn rejected(schema: Value, arguments: Value) -> Vec<String> {
    let mut answers: Vec<Vec<String>> = DIALECTS
        .iter()
        .map(|dialect| {
            let mut schema = schema.clone();
            schema["$schema"] = json!(dialect);
            unknown(ValidationConfig::default(), &schema, &arguments)
        })
        .collect();
    answers.dedup();
    assert_eq!(answers.len(), 1, "all dialects agree");
    answers.remove(0)
}

const NONE: [&str; 0] = [];

#[test]
fn object_with_listed_properties_is_closed_at_every_depth() {
    let inner = json!({ "type": "object", "properties": { "a": {} } });
    let schema = json!({ "properties": {
        "o": inner, "l": { "items": inner }, "m": { "additionalProperties": inner }
    } });
    let arguments =
        json!({ "o": { "b": 1 }, "l": [{ "a": 1 }, { "b": 1 }], "m": { "x": { "b": 1 } }, "z": 1 });
    assert_eq!(rejected(schema, arguments), ["/z", "/l/1/b", "/m/x/b", "/o/b"]);
}

#[test]
fn object_without_listed_properties_is_open() {
    assert_eq!(rejected(json!({ "type": "object" }), json!({ "x": 1 })), NONE);
    assert_eq!(rejected(json!({ "type": "object", "properties": {} }), json!({ "x": 1 })), ["/x"]);
}

#[test]
fn explicit_additional_properties_take_precedence() {
    let open = json!({ "properties": { "a": {} }, "additionalProperties": true });
    assert_eq!(rejected(open, json!({ "x": 1 })), NONE);
    let typed = json!({ "properties": { "a": {} }, "additionalProperties": { "type": "string" } });
    assert_eq!(rejected(typed.clone(), json!({ "x": "1" })), NONE);
    assert_eq!(rejected(typed, json!({ "x": 1 })), ["/x"]);
    let pattern = json!({ "properties": { "a": {} }, "patternProperties": { "^x-": {} } });
    assert_eq!(rejected(pattern, json!({ "x-1": 1, "y": 1 })), NONE);
}

#[test]
fn properties_of_all_of_and_references_are_combined() {
    let schema = json!({
        "properties": { "a": {} },
        "allOf": [{ "properties": { "b": {} } }, { "$ref": "#/definitions/c" }],
        "definitions": { "c": { "properties": { "c": {} } } }
    });
    assert_eq!(rejected(schema.clone(), json!({ "a": 1, "b": 1, "c": 1 })), NONE);
    assert_eq!(rejected(schema, json!({ "a": 1, "d": 1 })), ["/d"]);
}

#[test]
fn open_all_of_part_opens_the_object() {
    let schema =
        json!({ "allOf": [{ "properties": { "a": {} } }, { "additionalProperties": true }] });
    assert_eq!(rejected(schema, json!({ "x": 1 })), NONE);
}

#[test]
fn only_matching_branches_contribute_properties() {
    let schema = json!({ "anyOf": [
        { "properties": { "kind": { "enum": ["a"] }, "x": {} }, "required": ["kind"] },
        { "properties": { "kind": { "enum": ["b"] }, "y": {} }, "required": ["kind"] }
    ] });
    assert_eq!(rejected(schema.clone(), json!({ "kind": "b", "y": 1 })), NONE);
    assert_eq!(rejected(schema, json!({ "kind": "b", "x": 1 })), ["/x"]);
}

#[test]
fn branches_with_only_required_do_not_open_or_close_objects() {
    let schema = json!({
        "properties": { "a": {}, "b": {} },
        "anyOf": [{ "required": ["a"] }, { "required": ["b"] }]
    });
    assert_eq!(rejected(schema.clone(), json!({ "a": 1, "b": 2 })), NONE);
    assert_eq!(rejected(schema, json!({ "a": 1, "z": 2 })), ["/z"]);
}

#[test]
fn open_branch_opens_the_object() {
    let schema = json!({ "properties": { "v": { "anyOf": [
        { "type": "object", "properties": { "a": {} } }, { "type": "object" }
    ] } } });
    assert_eq!(rejected(schema, json!({ "v": { "anything": 1 } })), NONE);
}

#[test]
fn schemas_inside_not_do_not_close_objects() {
    let schema =
        json!({ "not": { "properties": { "a": { "type": "string" } }, "required": ["a"] } });
    assert_eq!(rejected(schema, json!({ "x": 1 })), NONE);
}

#[test]
fn then_and_else_contribute_properties_and_if_closes_nothing() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "if": { "properties": { "kind": { "const": "a" } }, "required": ["kind"] },
        "then": { "properties": { "x": {} } },
        "else": { "properties": { "y": {} } }
    });
    let check = |arguments| unknown(ValidationConfig::default(), &schema, &arguments);
    assert_eq!(check(json!({ "kind": "a", "x": 1 })), NONE);
    assert_eq!(check(json!({ "kind": "a", "y": 1 })), ["/y"]);
    assert_eq!(check(json!({ "y": 1 })), NONE);
    assert_eq!(check(json!({ "x": 1 })), ["/x"]);
}

#[test]
fn siblings_of_references_are_ignored_up_to_draft_7() {
    let schema = |dialect: &str| {
        json!({
            "$schema": dialect,
            "properties": { "v": { "$ref": "#/definitions/a", "properties": { "b": {} } } },
            "definitions": { "a": { "properties": { "a": {} } } }
        })
    };
    let arguments = json!({ "v": { "b": 1 } });
    let check = |dialect| unknown(ValidationConfig::default(), &schema(dialect), &arguments);
    assert_eq!(check(DIALECTS[2]), ["/v/b"]);
    assert_eq!(check(DIALECTS[4]), NONE);
}

#[test]
fn literal_schema_semantics_are_configurable() {
    let mut config = ValidationConfig::default();
    config.unknown_fields = UnknownFields::FollowSchema;
    let schema = json!({ "properties": { "a": {} } });
    assert_eq!(unknown(config, &schema, &json!({ "x": 1 })), NONE);
}

#[test]
fn unlisted_field_of_a_nested_object_is_valid_only_by_the_schema_as_written() {
    let group = json!({ "type": "object", "properties": { "id": {}, "readOnly": {} } });
    let schema = json!({ "properties": { "groups": { "type": "array", "items": group } } });
    let arguments = json!({ "groups": [{ "id": "g", "manage": false }] });
    assert_eq!(rejected(schema.clone(), arguments.clone()), ["/groups/0/manage"]);
    let mut config = ValidationConfig::default();
    config.unknown_fields = UnknownFields::FollowSchema;
    assert_eq!(unknown(config, &schema, &arguments), NONE);
}

#[test]
fn null_arguments_count_as_absent_where_nothing_is_required() {
    let optional = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    assert_eq!(rejected(optional.clone(), Value::Null), NONE);
    let mut required = optional;
    required["required"] = json!(["a"]);
    assert_eq!(rejected(required, Value::Null), [""]);
}
