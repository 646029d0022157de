//! Masking: logged findings contain field names and types, never argument values.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{McpValidator, Revision, ToolDefinition, ValidationConfig};
use stickler_protocol::{Side, ValidationMiddleware};

const SECRET: &str = "hunter2-very-secret";

/// The log lines for a message, with one tool of the given schema. Values are masked only in the
/// log.
fn logged(schema: Value, side: Side, message: &[u8]) -> Vec<String> {
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
    let mut middleware =
        ValidationMiddleware::new("s", Arc::new(validator)).with_revision(Revision::V2025_11_25);
    let verdict = middleware.handle(side, message, Duration::ZERO);
    verdict.findings.iter().map(stickler::Finding::masked).collect()
}

fn logged_call(schema: Value, arguments: &str) -> Vec<String> {
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
    );
    logged(schema, Side::Client, call.as_bytes())
}

#[test]
fn log_lines_state_the_expected_and_received_types() {
    let schema = |of_a: Value| json!({ "type": "object", "properties": { "a": of_a } });
    for (of_a, value, expected) in [
        (json!({ "minLength": 90 }), json!(SECRET), "at least 90 characters, received string"),
        (json!({ "minimum": 3 }), json!(1), "at least 3, received integer"),
        (json!({ "maxItems": 1 }), json!([1, SECRET]), "at most 1 item, received array"),
        (json!({ "pattern": "^z" }), json!(SECRET), "the pattern `^z`, received string"),
        (
            json!({ "not": { "type": "string" } }),
            json!(SECRET),
            "no match for {\"type\":\"string\"}, received string",
        ),
    ] {
        let lines = logged_call(schema(of_a), &json!({ "a": value }).to_string());
        let line = lines.join(";");
        let begin = format!(
            "[STK-107] /params/arguments/a: expected {expected} (schema path /properties/a/"
        );
        assert!(line.starts_with(&begin), "{line}");
    }
    assert_eq!(
        logged_call(schema(json!({})), r#"{"a":1e999}"#),
        ["[STK-107] /params/arguments/a: expected a number within the range of a double, \
          received integer"]
    );
}

#[test]
fn log_lines_contain_field_names_and_no_values() {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let arguments = json!({ "my own field": SECRET, "path": [SECRET] });
    let lines = logged_call(schema, &arguments.to_string());
    assert_eq!(
        lines,
        [
            "[STK-107] /params/arguments/my own field: expected `path`, \
             received `my own field` (schema path /properties)",
            "[STK-107] /params/arguments/path: expected string, received array \
             (schema path /properties/path/type)",
        ]
    );
}

#[test]
fn log_lines_give_the_reason_and_offset_of_json_errors() {
    let head = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pin":"hunter2"#;
    let broken = |tail: &[u8]| [head, tail].concat();
    let at = |offset: usize| format!(" at byte {}", head.len() + offset);
    for (bytes, why, place) in [
        (broken(b""), "the text ends before the JSON value does", at(0)),
        (broken(b"\xff\"}}"), "the text is not UTF-8", at(0)),
        (broken(b"\0\"}}"), "a control character must be escaped in a string", at(0)),
        (broken(b"\"}} hunter2"), "unexpected text after the JSON value", at(4)),
    ] {
        let lines = logged(json!({}), Side::Client, &bytes);
        assert_eq!(lines, [format!("[json-syntax] the message is not JSON: {why}{place}")]);
    }
    let marked = [b"\xEF\xBB\xBF", &broken(b"\"}}")[..]].concat();
    assert_eq!(
        logged(json!({}), Side::Client, &marked),
        ["[json-syntax] the message begins with a byte order mark, which JSON does not allow"]
    );
}

#[test]
fn log_lines_describe_envelope_errors_of_responses() {
    for (rest, expected) in [
        (
            r#","result":{"pin":"hunter2"},"error":{"code":1,"message":"hunter2"}"#,
            "[bad-envelope] a response has either a `result` or an `error`, not both",
        ),
        ("", "[bad-envelope] the message has no `method`, no `result` and no `error`"),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":5{rest}}}"#);
        let lines = logged(json!({}), Side::Server, message.as_bytes());
        assert!(lines.iter().any(|line| line == expected), "{lines:?}");
        assert!(!lines.join("").contains("hunter2"), "{lines:?}");
    }
}
