//! Tests for the whole generator: results are valid or absent, deterministic, and bounded in cost.

use std::cell::Cell;

use super::{MAX_CHECKS, generate};
use serde_json::{Map, Value, json};

/// Returns the example for `schema`, confirmed by a real validator that also checks formats.
pub(super) fn example_of(schema: &Value) -> Option<Value> {
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(schema)
        .unwrap();
    generate(schema, &|value| validator.is_valid(value))
}

/// Returns the number of calls of `accepts` if it always rejects.
fn checks_until_exhausted(schema: &Value) -> usize {
    let checks = Cell::new(0);
    let example = generate(schema, &|_| {
        checks.set(checks.get() + 1);
        false
    });
    assert_eq!(example, None);
    checks.get()
}

#[test]
fn same_schema_yields_the_same_example() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string", "format": "uuid"}}},
        "required": ["a"]
    });
    assert_eq!(example_of(&schema), example_of(&schema));
}

#[test]
fn all_of_and_references_are_satisfied_together() {
    let schema = json!({
        "$defs": {
            "named": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
            "short": {"properties": {"name": {"maxLength": 3}}}
        },
        "type": "object",
        "allOf": [{"$ref": "#/$defs/named"}, {"$ref": "#/$defs/short"}],
        "required": ["age"],
        "properties": {"age": {"type": "integer", "minimum": 18}}
    });
    assert_eq!(example_of(&schema), Some(json!({"name": "exa", "age": 18})));
}

#[test]
fn draft_04_schemas_are_supported() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "definitions": {"n": {"type": "number", "minimum": 5, "exclusiveMinimum": true}},
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "required": ["n"]
    });
    assert_eq!(example_of(&schema), Some(json!({"n": 6})));
}

#[test]
fn terminating_branch_is_preferred_over_a_recursive_one() {
    let schema = json!({
        "$defs": {"expression": {"oneOf": [
            {"type": "object", "properties": {"left": {"$ref": "#/$defs/expression"}}, "required": ["left"]},
            {"type": "object", "properties": {"value": {"type": "integer"}, "unit": {"type": "string"}},
             "required": ["value", "unit"]}
        ]}},
        "$ref": "#/$defs/expression"
    });
    assert_eq!(example_of(&schema), Some(json!({"value": 1, "unit": "example"})));
}

#[test]
fn further_attempts_satisfy_rules_of_the_validator() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": [1, 2, 3]}}, "required": ["b"]});
    let example = generate(&schema, &|value| value["b"] == json!(3));
    assert_eq!(example, Some(json!({"b": 3})));
    let example = generate(&schema, &|value| value.get("a").is_some());
    assert_eq!(example, Some(json!({"b": 1, "a": 1})));
}

#[test]
fn rejected_value_is_never_returned() {
    assert_eq!(generate(&json!({"type": "string"}), &|_| false), None);
    assert_eq!(generate(&json!(false), &|_| true), None);
}

#[test]
fn number_of_validator_calls_is_bounded() {
    let names: Vec<String> = (0..30).map(|number| format!("p{number}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"enum": [1, 2, 3, 4]}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    assert_eq!(checks_until_exhausted(&schema), MAX_CHECKS);
}

#[test]
fn explosive_and_recursive_schemas_terminate() {
    let mut doubling = Map::new();
    for level in 0..40 {
        let below = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        doubling.insert(
            format!("l{level}"),
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": below, "b": below},
                   "anyOf": [below, below, {"not": below}]}),
        );
    }
    for schema in [
        json!({"$defs": doubling, "$ref": "#/$defs/l0"}),
        json!({"$ref": "#"}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "oneOf": [{"$ref": "#"}]}),
        json!({"type": "array", "minItems": 1_000_000_000}),
        json!({"type": "string", "minLength": 1_000_000_000_000_u64}),
        json!({"type": "string", "pattern": "^(a{1000}){1000}$"}),
        json!({"type": "object", "minProperties": 4_000_000_000_u64}),
    ] {
        assert!(checks_until_exhausted(&schema) <= MAX_CHECKS);
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let mut applicators = json!({"type": "null"});
    let mut members = json!({"type": "null"});
    for _ in 0..120 {
        applicators = json!({"allOf": [{"anyOf": [applicators]}]});
        members = json!({"type": "object", "properties": {"a": members}, "required": ["a"]});
    }
    assert!(checks_until_exhausted(&applicators) <= MAX_CHECKS);
    assert!(checks_until_exhausted(&members) <= MAX_CHECKS);
}

#[test]
fn malformed_keywords_do_not_panic() {
    let malformed = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e308),
        json!(""),
        json!("#/x"),
        json!("(["),
        json!([]),
        json!([null, 1, "a"]),
        json!({}),
        json!({"a": null, "": []}),
    ];
    let keywords = [
        "type",
        "enum",
        "const",
        "examples",
        "default",
        "required",
        "properties",
        "items",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "prefixItems",
        "contains",
        "minContains",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "exclusiveMaximum",
        "multipleOf",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "dependentRequired",
        "dependencies",
        "$ref",
        "$id",
        "minProperties",
    ];
    for (first, keyword) in keywords.into_iter().enumerate() {
        for (second, value) in malformed.iter().enumerate() {
            let other = keywords[(first + second + 1) % keywords.len()];
            for kind in ["object", "array", "string", "number"] {
                let schema = json!({"type": kind, other: value, keyword: value});
                checks_until_exhausted(&schema);
            }
        }
    }
}

#[test]
fn example_of_a_real_tool_looks_like_a_real_call() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Workbook to open"},
            "start": {"type": "string", "description": "Start of the meeting, HH:MM"},
            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "recipients": {"type": "array", "items": {"type": "string", "description": "Email address"}},
            "range": {"type": "string", "description": "Cells, e.g. \"A1:C9\""},
            "lat": {"type": "number", "minimum": -90, "maximum": 90},
            "port": {"type": "integer", "maximum": 1024},
            "url": {"type": "string", "maxLength": 5}
        },
        "required": ["path", "start", "currency", "recipients", "range", "lat", "port", "url"]
    });
    let expected = json!({
        "path": "/home/user/notes.txt",
        "start": "09:30",
        "currency": "USD",
        "recipients": ["user@example.com"],
        "range": "A1:C9",
        "lat": 52.52,
        "port": 1,
        "url": "examp"
    });
    assert_eq!(example_of(&schema), Some(expected));
}
