//! Validation over the tape gives the same verdict as `jsonschema` over a `serde_json` value.
#![no_main]

use std::sync::LazyLock;

use jsonschema::{PatternOptions, Validator};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use stickler::tape::{Node, TapeBuffer};
use stickler::{Formats, McpValidator, Repair, ToolDefinition, UnknownFields, ValidationConfig};

struct Both {
    ours: McpValidator,
    theirs: Vec<Validator>,
}

/// Schemas of different kinds: scalars, choices, recursion, arrays, conditions, older drafts.
fn schemas() -> Vec<Value> {
    vec![
        json!({ "properties": {
            "a": { "type": "integer", "minimum": -3, "exclusiveMaximum": 1e19, "multipleOf": 3 },
            "b": { "type": "string", "minLength": 2, "maxLength": 5, "pattern": "^\\w+$" },
            "c": { "enum": [1, 2.5, "x", null, [1, {}], { "y": -0.0 }] },
            "d": { "const": 9_007_199_254_740_993_i64 },
            "e": { "type": "number", "multipleOf": 0.01 }
        }, "additionalProperties": { "type": ["boolean", "null"] } }),
        json!({ "anyOf": [
            { "properties": { "k": { "const": "a" }, "v": { "type": "string" } },
              "required": ["k", "v"], "unevaluatedProperties": false },
            { "properties": { "k": { "const": "b" }, "v": { "type": "array" } },
              "required": ["k", "v"] },
            { "not": { "required": ["k"] }, "maxProperties": 1 }
        ] }),
        json!({ "$ref": "#/$defs/tree", "$defs": { "tree": {
            "type": "object", "required": ["n"], "additionalProperties": false,
            "properties": { "n": { "type": "number" },
                "c": { "type": "array", "items": { "$ref": "#/$defs/tree" }, "maxItems": 3 } }
        } } }),
        json!({ "properties": { "a": { "type": "array", "uniqueItems": true,
            "prefixItems": [{ "type": "string" }, { "format": "date" }],
            "contains": { "type": "integer" }, "maxContains": 2,
            "unevaluatedItems": { "type": "object" } } },
            "propertyNames": { "maxLength": 3 }, "minProperties": 1 }),
        json!({ "if": { "properties": { "a": { "const": 1 } }, "required": ["a"] },
            "then": { "required": ["b"] }, "else": { "required": ["c"] },
            "patternProperties": { "^x": { "type": "integer" }, "é$": false },
            "dependentRequired": { "b": ["c"] },
            "oneOf": [{ "required": ["b"] }, { "required": ["c"] }] }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": { "even": { "multipleOf": 2 } },
            "properties": { "a": { "items": [{ "$ref": "#/definitions/even" }],
                "additionalItems": { "type": "string", "format": "uri" } },
                "b": { "type": "string", "pattern": "^(?!no)" } },
            "dependencies": { "a": { "required": ["b"] } } }),
    ]
}

static BOTH: LazyLock<Both> = LazyLock::new(|| {
    let mut config = ValidationConfig::default();
    config.unknown_fields = UnknownFields::FollowSchema;
    config.repair = Repair::Off;
    config.formats = Formats::Strict;
    let ours = McpValidator::new(config);
    let schemas = schemas();
    let tools: Vec<_> = schemas
        .iter()
        .enumerate()
        .map(|(index, schema)| {
            ToolDefinition::new(index.to_string()).with_input_schema(schema.clone())
        })
        .collect();
    ours.cache().populate("server", &tools);
    assert!(ours.cache().compile_all("server").is_empty());
    let compile = |schema: &Value| {
        let options = || jsonschema::options().should_validate_formats(true);
        let linear = options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema);
        linear.unwrap_or_else(|_| options().build(schema).expect("the schemas are valid"))
    };
    Both {
        ours,
        theirs: schemas.iter().map(compile).collect(),
    }
});

fuzz_target!(|data: &[u8]| {
    let Some((&first, text)) = data.split_first() else {
        return;
    };
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return;
    };
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(text, 128) else {
        return;
    };
    // Arguments must be an object without duplicate keys, regardless of the schema.
    if !value.is_object() || tape.duplicate_keys().next().is_some() {
        return;
    }
    let index = usize::from(first) % BOTH.theirs.len();
    let theirs = BOTH.theirs[index].is_valid(&value);
    let written = value.to_string();
    let mut buffer = TapeBuffer::new();
    let rewritten = buffer
        .read(written.as_bytes(), 128)
        .expect("a value is JSON");
    for root in [rewritten.root(), tape.root()] {
        // The tape keeps digits that `serde_json` rounds, and the engine uses them.
        if is_exact(root) {
            let ours = BOTH.ours.validate_node("server", &index.to_string(), root);
            assert_eq!(ours.is_valid, theirs, "schema {index}: {:?}", ours.errors);
            assert_eq!(ours.is_valid, ours.errors.is_empty());
        }
    }
});

/// Returns whether `serde_json` represents all numbers exactly.
fn is_exact(node: Node<'_>) -> bool {
    match node.to_value() {
        Value::Number(number) if number.is_f64() => {
            let mantissa = node.raw().split(['e', 'E']).next().unwrap_or_default();
            let is_zero = !mantissa.contains(|c: char| matches!(c, '1'..='9'));
            mantissa.len() <= 15 && (is_zero || number.as_f64() != Some(0.0))
        }
        Value::Array(_) => node.elements().all(is_exact),
        Value::Object(_) => node.members().all(|(_, inner)| is_exact(inner)),
        _ => true,
    }
}
