//! What is wrong with large calls is found, whatever they hold besides, and nothing is made up where looking
//! took too long.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests are blunt")]

use serde_json::{Map, Value, json};
use stickler::{
    McpValidator, ToolDefinition, ValidationConfig, ValidationErrorKind, ValidationResult,
};

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

fn fields(count: usize) -> Value {
    let integer = json!({ "type": "integer" });
    let properties: Map<String, Value> =
        (0..count).map(|index| (format!("field_{index}"), integer.clone())).collect();
    json!({ "type": "object", "properties": properties })
}

fn object(keys: impl Iterator<Item = String>) -> Value {
    Value::Object(keys.map(|key| (key, json!(1))).collect())
}

#[test]
fn of_many_unknown_fields_the_first_are_told_and_there_may_be_more() {
    let config = ValidationConfig::default();
    let most = config.limits.errors;
    let unknown = object((0..100_000).map(|index| format!("unknown{index:06}")));
    let result = check(fields(50), config, &unknown);
    assert_eq!((result.errors.len(), result.truncated), (most, true));
    for (index, error) in result.errors.iter().enumerate() {
        assert_eq!(error.path, format!("/unknown{index:06}"));
        assert!(error.message.contains("valid fields: `field_0`, `field_1`"), "{error:?}");
    }
    assert!(result.corrected.is_none());
}

#[test]
fn as_many_fields_are_compared_as_the_bound_allows_and_the_others_are_told_without_suggestions() {
    // 64 × 256 pairs are 40 fields with 400 names each.
    let misspelt = object((0..400).map(|index| format!("feild_{index:03}")));
    let result = check(fields(400), ValidationConfig::default(), &misspelt);
    let with: Vec<bool> =
        result.errors.iter().map(|error| !error.suggestions().is_empty()).collect();
    assert_eq!(with, (0..50).map(|index| index < 40).collect::<Vec<_>>(), "{with:?}");
    let listed = result.errors.last().unwrap();
    assert!(listed.message.contains("valid fields: `field_0`"), "{listed:?}");
}

#[test]
fn one_misspelt_field_is_found_among_thousands() {
    let result = check(fields(5_000), ValidationConfig::default(), &json!({ "feild_4999": 1 }));
    assert_eq!(result.errors[0].suggestions()[0], "field_4999");
    assert_eq!(result.corrected.unwrap().arguments.get(), r#"{"field_4999":1}"#);
}

#[test]
fn a_call_is_repaired_up_to_ten_times_as_many_problems_as_are_shown() {
    let texts = |count: usize| json!({ "rows": vec![json!({ "a": "1" }); count] });
    let repaired = check(rows(), ValidationConfig::default(), &texts(500));
    let numbers = json!({ "rows": vec![json!({ "a": 1 }); 500] });
    assert_eq!(repaired.corrected.unwrap().arguments.get(), numbers.to_string());
    assert_eq!((repaired.errors.len(), repaired.edits.len(), repaired.truncated), (50, 500, true));
    let beyond = check(rows(), ValidationConfig::default(), &texts(501));
    assert!(beyond.corrected.is_none() && beyond.edits.is_empty() && beyond.truncated);
}

#[test]
fn a_branch_is_chosen_for_an_object_of_any_size() {
    let branch = |index: usize| {
        let own = format!("only_{index}");
        json!({
            "type": "object",
            "properties": { own.as_str(): { "type": "string" }, "kind": { "const": index } },
            "required": [own, "kind"],
        })
    };
    let branches: Vec<Value> = (0..200).map(branch).collect();
    let schema = json!({ "type": "object", "properties": { "item": { "anyOf": branches } } });
    let item = json!({ "kind": 150, "only_150": 7 });
    let result = check(schema.clone(), ValidationConfig::default(), &json!({ "item": item }));
    assert_eq!(result.errors.len(), 1, "{:?}", result.errors);
    assert_eq!(result.errors[0].path, "/item/only_150");
    let large = object((0..10_000).map(|index| format!("key{index}")));
    let result = check(schema, ValidationConfig::default(), &json!({ "item": large }));
    assert!(!result.is_valid && !result.errors.is_empty() && result.truncated);
}

#[test]
fn many_errors_with_long_lists_of_values_list_the_first_few() {
    let values: Vec<String> = (0..10_000).map(|index| format!("value_{index}")).collect();
    let items = json!({ "type": "array", "items": { "enum": values } });
    let schema = json!({ "type": "object", "properties": { "modes": items } });
    let result = check(schema, ValidationConfig::default(), &json!({ "modes": ["x", "y", "z"] }));
    let listed: Vec<usize> = result
        .errors
        .iter()
        .map(|error| match &error.kind {
            ValidationErrorKind::InvalidEnum { allowed, .. } => allowed.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(listed, [10_000, 20, 20]);
}

#[test]
fn a_key_that_is_repeated_often_is_told_as_often_as_errors_are_shown() {
    let config = ValidationConfig::default();
    let most = config.limits.errors;
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("store").with_input_schema(fields(1));
    validator.cache().populate(SERVER, &[tool]);
    let text = format!("{{{}}}", vec![r#""field_0":1"#; 100_000].join(","));
    let result = validator.validate_text(SERVER, "store", Some(text.as_bytes())).unwrap();
    assert_eq!(result.errors.len(), most);
    assert!(result.errors.iter().all(|error| error.path == "/field_0"));
    let inner = r#""field_0":{"x":1,"x":1}"#;
    let text = format!(r#"{{{},"field_0":1}}"#, vec![inner; 100_000].join(","));
    let result = validator.validate_text(SERVER, "store", Some(text.as_bytes())).unwrap();
    assert!(result.errors.iter().all(|error| error.path == "/field_0"));
}

#[test]
fn a_long_key_above_many_mistakes_is_told_in_short() {
    let schema = json!({ "type": "object", "additionalProperties": rows()["properties"]["rows"] });
    let key = "k".repeat(100_000);
    let arguments = json!({ key.as_str(): vec![json!({ "a": "x" }); 1_000] });
    let result = check(schema, ValidationConfig::default(), &arguments);
    assert!(result.truncated && !result.errors.is_empty());
    assert!(result.errors.iter().all(|error| error.message.len() < 1_000));
}
