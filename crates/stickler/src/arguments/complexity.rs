//! Tests that the work on a rejected call is linear in its size.
//!
//! `tape::work` counts the work: tokens read, characters compared, bytes of paths. Every test compares a
//! call with one eight times as large: linear work grows by a factor of 8, quadratic work by 64.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::arguments::McpValidator;
use crate::config::ValidationConfig;
use crate::discovery::ToolDefinition;
use crate::render::{AnswerForm, CallRejection};
use crate::tape::{TapeBuffer, work};

/// Maximum factor by which the work may grow for the larger call.
const MAX_GROWTH: u64 = 14;

/// Work that is allowed independently of the size of the call: the bounded comparisons of names.
const BASE_WORK: u64 = 500_000;

/// Validates, explains, repairs and answers a call, and returns the work that this takes.
fn work_on(schema: &Value, text: &str) -> u64 {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("tool").with_input_schema(schema.clone());
    validator.register_tool_schema("server", &tool).unwrap();
    let (valid, work) = work::measure(|| {
        let result = validator.validate_text("server", "tool", Some(text.as_bytes())).unwrap();
        let rejection = CallRejection::new(&validator, "server", "tool", &result);
        let _ = rejection.answer(AnswerForm::ToolResult);
        result.is_valid
    });
    assert!(!valid);
    work
}

/// Asserts that the work is linear in the size of the call and bounded per token.
fn assert_linear(schema: &Value, size: usize, call: impl Fn(usize) -> String) {
    let (small, large) = (call(size), call(8 * size));
    let (before, after) = (work_on(schema, &small), work_on(schema, &large));
    assert!(after <= MAX_GROWTH * before + BASE_WORK, "work grew from {before} to {after}");
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(large.as_bytes(), 128).unwrap();
    let tokens = tape.root().token_count().max(large.len() / 16) as u64;
    assert!(after <= 100 * tokens + 10 * BASE_WORK, "{after} units of work for {tokens} tokens");
}

fn fields(count: usize) -> Value {
    let properties: Map<String, Value> = (0..count)
        .map(|index| (format!("a_rather_long_field_name_{index}"), json!({ "type": "integer" })))
        .collect();
    json!({ "type": "object", "properties": properties })
}

fn rows() -> Value {
    let row = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    json!({ "type": "object", "properties": { "rows": { "type": "array", "items": row } } })
}

fn object(count: usize, name: impl Fn(usize) -> String) -> String {
    let mut text = String::from("{");
    for index in 0..count {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, r#"{comma}"{}":1"#, name(index));
    }
    text.push('}');
    text
}

fn keys(count: usize) -> String {
    object(count, |index| format!("key{index}"))
}

fn array(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..count).map(element).collect();
    format!(r#"{{"rows":[{}]}}"#, elements.join(","))
}

#[test]
fn work_is_linear_in_the_number_of_unknown_keys() {
    for properties in [1, 10, 50, 200] {
        assert_linear(&fields(properties), 500, keys);
    }
    assert_linear(&fields(10), 5_000, keys);
}

#[test]
fn work_is_linear_in_the_number_of_forbidden_keys() {
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        let mut schema = fields(50);
        schema[keyword] = json!(false);
        assert_linear(&schema, 500, keys);
    }
}

#[test]
fn work_is_linear_in_the_number_of_elements_with_an_unknown_field() {
    assert_linear(&rows(), 2_500, |n| array(n, |index| format!(r#"{{"count":{index},"zzz":1}}"#)));
}

#[test]
fn work_is_linear_in_the_number_of_elements_with_a_misspelt_field() {
    assert_linear(&rows(), 2_500, |n| array(n, |index| format!(r#"{{"cuont":{index}}}"#)));
}

#[test]
fn work_is_linear_in_the_number_of_elements_of_the_wrong_type() {
    assert_linear(&rows(), 1_250, |n| array(n, |index| format!(r#"{{"count":"{index}"}}"#)));
}

#[test]
fn work_is_linear_in_the_number_of_repairable_elements() {
    assert_linear(&rows(), 62, |n| array(n, |index| format!(r#"{{"count":"{index}"}}"#)));
    assert_linear(&rows(), 62, |n| array(n, |_| r#"{"count":null}"#.to_owned()));
}

#[test]
fn work_is_linear_in_the_size_of_stringified_arguments() {
    assert_linear(&fields(50), 500, |n| Value::String(keys(n)).to_string());
}

#[test]
fn work_is_linear_in_the_length_of_keys() {
    assert_linear(&fields(50), 12_500, |n| format!(r#"{{"{}":1}}"#, "k".repeat(n)));
    assert_linear(&fields(50), 500, |n| {
        object(64, |index| format!("{index}{}", "a_rather_long_field_name".repeat(n / 24)))
    });
}

#[test]
fn work_is_linear_for_a_long_key_above_many_unknown_fields() {
    let values = json!({ "type": "object", "additionalProperties": rows()["properties"]["rows"] });
    assert_linear(&values, 1_000, |n| {
        let elements = vec![r#"{"zzz":1}"#; n / 10].join(",");
        format!(r#"{{"{}":[{elements}]}}"#, "k".repeat(n * 10))
    });
}

#[test]
fn work_is_linear_for_many_misspelt_fields_and_many_candidates() {
    let misspelt = |n| object(n, |index| format!("a_rather_long_field_nane_{index}"));
    assert_linear(&fields(400), 50, misspelt);
    assert_linear(&fields(5_000), 50, misspelt);
}

#[test]
fn work_is_bounded_for_many_unknown_fields_with_synonyms_as_candidates() {
    let properties: Map<String, Value> = (0..400)
        .map(|index| {
            let description = "maximum number of results, path of the file, query text ".repeat(20);
            let field = json!({ "type": "integer", "description": description });
            (format!("max_result_count_{index}"), field)
        })
        .collect();
    let schema = json!({ "type": "object", "properties": properties });
    assert_linear(&schema, 50, |n| object(n, |index| format!("limitRows{index}")));
}

#[test]
fn work_is_linear_for_names_of_very_many_words() {
    let name = |index: usize| format!("{}{index}", "max_path_of_the_file_id_".repeat(40));
    assert_linear(&fields(50), 50, |n| object(n, name));
    let hostile = |index: usize| format!("{}{index}", "aB_-é".repeat(200));
    assert_linear(&fields(50), 50, |n| object(n, hostile));
}

#[test]
fn work_is_linear_for_a_wrong_call_of_two_megabytes() {
    let properties = json!({
        "path": { "type": "string" },
        "style": { "type": "object", "properties": { "bold": { "type": "boolean" } } },
        "tags": { "type": "array", "items": { "type": "string" } }
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["path"] });
    assert_linear(&schema, 250_000, |n| {
        let text = "a,".repeat(n / 4);
        format!(r#"{{"filepath":"{text}","bold":true,"tags":"{text}","options":{{"x":"{text}"}}}}"#)
    });
}

#[test]
fn work_is_linear_for_long_escaped_values_and_many_candidates() {
    let properties: Map<String, Value> = (0..256)
        .map(|index| {
            let field = json!({ "type": ["string", "null"], "enum": ["a", "b"], "format": "date" });
            (format!("content_{index}"), field)
        })
        .collect();
    let schema = json!({ "type": "object", "properties": properties });
    assert_linear(&schema, 125_000, |n| format!(r#"{{"text":"{}"}}"#, r"a\n".repeat(n / 3)));
    assert_linear(&schema, 2_000, |n| {
        let fields: Vec<String> =
            (0..64).map(|index| format!(r#""text{index}":"{}""#, r"a\n".repeat(n / 3))).collect();
        format!("{{{}}}", fields.join(","))
    });
}

#[test]
fn work_is_linear_in_the_number_of_fields_to_move() {
    let members: Map<String, Value> =
        (0..200).map(|index| (format!("f{index}"), json!({ "type": "integer" }))).collect();
    let style = json!({ "type": "object", "properties": members });
    let schema = json!({ "type": "object", "properties": { "style": style, "path": {} } });
    assert_linear(&schema, 20, |n| object(n, |index| format!("f{index}")));
}

#[test]
fn work_is_linear_for_long_values_of_a_large_enum() {
    let values: Vec<String> = (0..10_000).map(|index| format!("a_rather_long_{index}")).collect();
    let schema = json!({ "type": "object", "properties": { "mode": { "enum": values } } });
    assert_linear(&schema, 12_500, |n| format!(r#"{{"mode":"a_rather_long_{}"}}"#, "9".repeat(n)));
}

#[test]
fn work_is_linear_for_many_values_of_a_large_enum() {
    let values: Vec<String> = (0..1_000).map(|index| format!("value_{index}")).collect();
    let items = json!({ "type": "array", "items": { "enum": values } });
    let schema = json!({ "type": "object", "properties": { "rows": items } });
    assert_linear(&schema, 100, |n| array(n, |index| format!(r#""valeu_{index}""#)));
}

#[test]
fn work_is_linear_in_the_nesting_depth() {
    let schema = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    assert_linear(&schema, 15, |n| {
        format!(r#"{}{{"zzz":1}}{}"#, r#"{"next":"#.repeat(n), "}".repeat(n))
    });
}

#[test]
fn work_is_linear_for_large_objects_and_many_branches() {
    let branch = |index: usize| {
        let name = format!("only_{index}");
        json!({ "properties": { name.as_str(): { "type": "string" } }, "required": [name] })
    };
    let branches: Vec<Value> = (0..20).map(branch).collect();
    let schema = json!({ "type": "object", "properties": { "item": { "anyOf": branches } } });
    assert_linear(&schema, 250, |n| format!(r#"{{"item":{}}}"#, keys(n)));
}

#[test]
fn work_is_linear_in_the_number_of_duplicate_keys() {
    assert_linear(&fields(10), 1_000, |n| object(n, |_| "a_rather_long_field_name_1".to_owned()));
    assert_linear(&fields(10), 1_000, |n| {
        let member = r#""key":{"x":1,"x":1}"#;
        format!(r#"{{{},"key":1}}"#, vec![member; n].join(","))
    });
}
