//! What is wrong with large calls is found, whatever they hold besides, and nothing is made up where looking
//! took too long.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests are blunt")]

use serde_json::{Value, json};
use stickler::{McpValidator, ToolDefinition, ValidationConfig, ValidationResult};

const SERVER: &str = "files";

fn check(schema: Value, config: ValidationConfig, arguments: &Value) -> ValidationResult {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("store").with_input_schema(schema);
    validator.cache().populate(SERVER, &[tool]);
    validator.validate(SERVER, "store", arguments)
}

fn rows() -> Value {
    let row = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    json!({ "type": "object", "properties": { "rows": { "type": "array", "items": row } } })
}

#[test]
fn the_last_of_many_elements_is_the_one_that_is_told() {
    let mut elements = vec![json!({ "a": 1 }); 200_000];
    elements.push(json!({ "a": "x" }));
    elements.push(json!({ "a": 1, "b": 1 }));
    let result = check(rows(), ValidationConfig::default(), &json!({ "rows": elements }));
    let told: Vec<&str> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(told, ["/rows/200000/a", "/rows/200001/b"], "{:?}", result.errors);
}

#[test]
fn of_many_mistakes_as_many_are_told_as_are_shown() {
    let elements = vec![json!({ "a": "x" }); 100_000];
    let config = ValidationConfig::default();
    let most = config.limits.errors;
    let result = check(rows(), config, &json!({ "rows": elements }));
    assert_eq!((result.errors.len(), result.truncated), (most, true));
    assert!(result.errors.iter().all(|error| error.message.contains("integer")));
}

#[test]
fn nothing_is_made_up_where_looking_took_too_long() {
    let tree = json!({ "$ref": "#/$defs/tree" });
    let part = json!({ "anyOf": [tree, tree, { "type": "string" }] });
    let whole = json!({ "type": "object", "properties": { "next": part } });
    let schema = json!({ "$ref": "#/$defs/tree", "$defs": { "tree": whole } });
    let mut arguments = json!({ "next": 7 });
    for _ in 0..12 {
        arguments = json!({ "next": arguments });
    }
    for steps in [0, 100, 10_000] {
        let mut config = ValidationConfig::default();
        config.limits.explain_steps = steps;
        let result = check(schema.clone(), config, &arguments);
        assert!(!result.is_valid && result.truncated && !result.errors.is_empty());
        for error in &result.errors {
            assert!(!error.message.contains("must be an object, but"), "{steps}: {error:?}");
        }
    }
}
