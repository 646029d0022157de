//! Tests of the layer between the packages and the core.

use serde_json::{Value, json};

use crate::{Validator, lint};

const TOOLS: &str = r#"[{"name":"write_file","inputSchema":{"type":"object","properties":
    {"path":{"type":"string"},"content":{"type":"string"},"mode":{"type":"integer"}},"required":["path","content"]}}]"#;

fn validator(config: &str) -> Validator {
    Validator::new(TOOLS, config).unwrap()
}

fn parsed(text: Option<String>) -> Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[test]
fn valid_call_needs_no_text() {
    let validator = validator("{}");
    assert_eq!(validator.check("write_file", Some(r#"{"path":"a","content":"b"}"#)), None);
    assert_eq!(validator.admit("write_file", Some(r#"{"path":"a","content":"b"}"#), None), None);
}

#[test]
fn rejected_call_is_explained_and_corrected() {
    let record = parsed(validator("{}").check("write_file", Some(r#"{"pth":"a","content":"b"}"#)));
    assert_eq!(record["valid"], false);
    assert_eq!(record["errors"][0]["suggestions"], json!(["path"]));
    assert_eq!(record["corrected"]["arguments"], json!({"path": "a", "content": "b"}));
    assert!(record["help"].as_str().unwrap().starts_with("Tool call failed for: write_file"));
    assert_eq!(record.get("arguments"), None);
}

#[test]
fn repaired_call_has_its_arguments() {
    let validator = validator(r#"{"mode":"assist"}"#);
    let call = Some(r#"{"path":"a","content":"b","mode":"7"}"#);
    assert_eq!(parsed(validator.check("write_file", call))["arguments"]["mode"], 7);
    let admission = parsed(validator.admit("write_file", call, None));
    assert_eq!(
        (&admission["admitted"], &admission["arguments"]["mode"]),
        (&json!(true), &json!(7))
    );
    assert_eq!(admission["edits"], "changed mode: \"7\" → 7");
}

#[test]
fn absent_arguments_are_an_empty_object() {
    let record = parsed(validator("{}").check("write_file", None));
    assert_eq!(record["errors"][0]["kind"], "missing_required");
}

#[test]
fn text_that_is_not_json_is_corrected_if_it_can_be_recognised() {
    let record = parsed(validator("{}").check("write_file", Some("{'path': 'a', 'content': 'b'}")));
    assert_eq!(record["errors"][0]["kind"], "invalid_json");
    assert_eq!(record["corrected"]["arguments"], json!({"path": "a", "content": "b"}));
    let record = parsed(validator("{}").check("write_file", Some("{\"path\":")));
    assert_eq!((&record["valid"], &record["corrected"]), (&json!(false), &Value::Null));
    assert!(record["help"].as_str().unwrap().contains("are not JSON"));
}

#[test]
fn observe_admits_everything_and_reports() {
    let admission =
        parsed(validator(r#"{"mode":"observe"}"#).admit("write_file", Some("{}"), None));
    assert_eq!(admission["admitted"], true);
    assert_eq!(admission["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn repeated_rejections_get_another_answer() {
    let validator = validator(r#"{"retry_limit":3}"#);
    let text = |answer: Value| answer["answer"]["result"]["content"][0]["text"].to_string();
    let answers: Vec<String> =
        (0..3).map(|_| text(parsed(validator.admit("write_file", Some("{}"), None)))).collect();
    assert!(answers[0].starts_with("\"Tool call failed"));
    assert!(answers[1].starts_with("\"This exact call has been rejected 2 times"));
    assert!(answers[2].starts_with("\"Rejected again"));
}

#[test]
fn answers_have_the_configured_form() {
    let admission =
        parsed(validator(r#"{"answer":"json_rpc_error"}"#).admit("write_file", None, None));
    assert_eq!(admission["answer"]["error"]["code"], -32602);
    let admission =
        parsed(validator(r#"{"answer":"observation"}"#).admit("write_file", None, Some(7)));
    let text = admission["answer"]["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["turn_index"], 7);
}

#[test]
fn argument_errors_of_a_server_are_extended_once() {
    let validator = validator("{}");
    let addition = validator.enhance_error("write_file", "missing field `path`").unwrap();
    assert!(addition.contains("path"));
    assert_eq!(validator.enhance_error("write_file", "disk full"), None);
    let reply =
        r#"{"result":{"content":[{"type":"text","text":"missing field `path`"}],"isError":true}}"#;
    let enhanced = validator.enhance_reply("write_file", reply).unwrap();
    let value: Value = serde_json::from_str(&enhanced).unwrap();
    assert_eq!(value["result"]["content"][1]["text"], json!(addition));
    assert_eq!(validator.enhance_reply("write_file", &enhanced), None);
}

#[test]
fn mistakes_of_the_program_are_errors() {
    let error = |config: &str| Validator::new(TOOLS, config).err().unwrap();
    assert!(error(r#"{"repiar":"off"}"#).contains("unknown field `repiar`"));
    assert!(error(r#"{"repair":"never"}"#).contains("unknown variant `never`"));
    assert!(Validator::new("{}", "{}").is_err());
    assert!(lint(TOOLS, Some("2020-01-01")).is_err());
}

#[test]
fn lint_reports_findings() {
    let findings: Value = serde_json::from_str(&lint(TOOLS, None).unwrap()).unwrap();
    assert_eq!(findings[0]["rule"], "no-description");
}
