//! Errors in large calls are found, and an exhausted search budget produces no false explanations.

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
fn error_in_the_last_of_many_elements_is_reported() {
    let mut elements = vec![json!({ "a": 1 }); 200_000];
    elements.push(json!({ "a": "x" }));
    elements.push(json!({ "a": 1, "b": 1 }));
    let result = check(rows(), ValidationConfig::default(), &json!({ "rows": elements }));
    let paths: Vec<&str> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["/rows/200000/a", "/rows/200001/b"], "{:?}", result.errors);
}

#[test]
fn number_of_reported_errors_is_limited() {
    let elements = vec![json!({ "a": "x" }); 100_000];
    let config = ValidationConfig::default();
    let limit = config.limits.errors;
    let result = check(rows(), config, &json!({ "rows": elements }));
    assert_eq!((result.errors.len(), result.truncated), (limit, true));
    assert!(result.errors.iter().all(|error| error.message.contains("integer")));
}

#[test]
fn no_corrections_are_suggested_when_the_search_budget_is_exhausted() {
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
fn first_unknown_fields_are_reported_and_the_list_is_marked_incomplete() {
    let config = ValidationConfig::default();
    let limit = config.limits.errors;
    let unknown = object((0..100_000).map(|index| format!("unknown{index:06}")));
    let result = check(fields(50), config, &unknown);
    assert_eq!((result.errors.len(), result.truncated), (limit, true));
    for (index, error) in result.errors.iter().enumerate() {
        assert_eq!(error.path, format!("/unknown{index:06}"));
        assert!(error.message.contains("valid fields: `field_0`, `field_1`"), "{error:?}");
    }
    assert!(result.corrected.is_none());
}

#[test]
fn fields_beyond_the_comparison_budget_are_reported_without_suggestions() {
    // The budget of 64 × 256 comparisons covers 40 fields with 400 names each.
    let misspelt = object((0..400).map(|index| format!("feild_{index:03}")));
    let result = check(fields(400), ValidationConfig::default(), &misspelt);
    let with: Vec<bool> =
        result.errors.iter().map(|error| !error.suggestions().is_empty()).collect();
    assert_eq!(with, (0..50).map(|index| index < 40).collect::<Vec<_>>(), "{with:?}");
    let listed = result.errors.last().unwrap();
    assert!(listed.message.contains("valid fields: `field_0`"), "{listed:?}");
}

#[test]
fn misspelt_field_is_found_among_thousands() {
    let result = check(fields(5_000), ValidationConfig::default(), &json!({ "feild_4999": 1 }));
    assert_eq!(result.errors[0].suggestions()[0], "field_4999");
    assert_eq!(result.corrected.unwrap().arguments.get(), r#"{"field_4999":1}"#);
}

#[test]
fn calls_are_repaired_up_to_ten_times_the_error_limit() {
    let texts = |count: usize| json!({ "rows": vec![json!({ "a": "1" }); count] });
    let repaired = check(rows(), ValidationConfig::default(), &texts(500));
    let numbers = json!({ "rows": vec![json!({ "a": 1 }); 500] });
    assert_eq!(repaired.corrected.unwrap().arguments.get(), numbers.to_string());
    assert_eq!((repaired.errors.len(), repaired.edits.len(), repaired.truncated), (50, 500, true));
    let beyond = check(rows(), ValidationConfig::default(), &texts(501));
    assert!(beyond.corrected.is_none() && beyond.edits.is_empty() && beyond.truncated);
}

#[test]
fn branch_is_selected_for_objects_of_any_size() {
    let branch = |index: usize| {
        let field = format!("only_{index}");
        json!({
            "type": "object",
            "properties": { field.as_str(): { "type": "string" }, "kind": { "const": index } },
            "required": [field, "kind"],
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
fn long_value_lists_are_truncated_in_errors() {
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
fn duplicate_key_errors_respect_the_error_limit() {
    let config = ValidationConfig::default();
    let limit = config.limits.errors;
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("store").with_input_schema(fields(1));
    validator.cache().populate(SERVER, &[tool]);
    let text = format!("{{{}}}", vec![r#""field_0":1"#; 100_000].join(","));
    let result = validator.validate_text(SERVER, "store", Some(text.as_bytes())).unwrap();
    assert_eq!(result.errors.len(), limit);
    assert!(result.errors.iter().all(|error| error.path == "/field_0"));
    let inner = r#""field_0":{"x":1,"x":1}"#;
    let text = format!(r#"{{{},"field_0":1}}"#, vec![inner; 100_000].join(","));
    let result = validator.validate_text(SERVER, "store", Some(text.as_bytes())).unwrap();
    assert!(result.errors.iter().all(|error| error.path == "/field_0"));
}

#[test]
fn long_keys_in_error_paths_are_shortened() {
    let schema = json!({ "type": "object", "additionalProperties": rows()["properties"]["rows"] });
    let key = "k".repeat(100_000);
    let arguments = json!({ key.as_str(): vec![json!({ "a": "x" }); 1_000] });
    let result = check(schema, ValidationConfig::default(), &arguments);
    assert!(result.truncated && !result.errors.is_empty());
    assert!(result.errors.iter().all(|error| error.message.len() < 1_000));
}

#[test]
fn paths_of_all_errors_together_respect_the_explanation_limit() {
    let schema = json!({ "type": "object", "additionalProperties": rows()["properties"]["rows"] });
    let key = "k".repeat(100_000);
    for element in [json!({ "a": "x" }), json!({ "a": 1, "b": 1 })] {
        let arguments = json!({ key.as_str(): vec![element; 1_000] });
        let config = ValidationConfig::default();
        let limit = config.limits.explain_steps as usize;
        let result = check(schema.clone(), config, &arguments);
        let bytes: usize = result.errors.iter().map(|error| error.path.len()).sum();
        // Only the last path can exceed the limit.
        assert!(bytes <= limit + key.len() + 16, "{bytes} bytes in {} errors", result.errors.len());
        assert!(result.truncated && !result.errors.is_empty());
    }
}

#[test]
fn pattern_that_cannot_be_matched_within_its_limit_is_a_warning() {
    let pattern = json!({ "type": "string", "pattern": "^(?:(?!foo).)*$" });
    let schema =
        json!({ "type": "object", "properties": { "text": pattern, "n": { "type": "integer" } } });
    let text = "x".repeat(60_000);
    let result = check(schema.clone(), ValidationConfig::default(), &json!({ "text": text }));
    assert!(result.is_valid, "{:?}", result.errors);
    let reason = result.unchecked.unwrap();
    assert!(reason.contains("`/text`") && reason.contains("pattern"), "{reason}");
    // A problem that was found still rejects the call, and the undecided pattern is not blamed.
    let result = check(schema, ValidationConfig::default(), &json!({ "text": text, "n": "x" }));
    let paths: Vec<&str> = result.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!((result.is_valid, paths), (false, vec!["/n"]));
}
