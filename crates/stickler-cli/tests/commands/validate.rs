//! `stickler validate`, run as a process: its JSON and text output and its exit codes.

use crate::support::command::{fixture, stickler, stickler_with_input};
use serde_json::Value;

fn records(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_output_is_one_documented_object_per_input_line() {
    let (tools, calls) = (fixture("files.tools.json"), fixture("calls.jsonl"));
    let run = stickler(&["validate", "--tools", &tools, "--calls", &calls, "--format", "json"]);
    assert_eq!(run.status, 1);
    let records = records(&run.stdout);
    assert_eq!(records.len(), std::fs::read_to_string(&calls).unwrap().lines().count());
    for (index, record) in records.iter().enumerate() {
        let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["line", "tool", "valid", "errors", "corrected", "edits", "help"]);
        assert_eq!(record["line"], index + 1);
        assert_eq!(record["valid"] == true, record["help"].is_null());
        for error in record["errors"].as_array().unwrap() {
            let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
            let expected =
                ["path", "schema_path", "kind", "message", "expected", "received", "suggestions"];
            assert_eq!(keys, expected);
        }
    }
    insta::assert_json_snapshot!("calls_as_json", records);
}

#[test]
fn text_output_underlines_errors_and_suggests_corrections() {
    let (tools, calls) = (fixture("files.tools.json"), fixture("calls.jsonl"));
    let run = stickler(&["validate", "--tools", &tools, "--calls", &calls]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!("calls_as_text", run.stdout);
}

#[test]
fn single_call_exits_with_0_when_valid_and_1_when_invalid() {
    let tools = fixture("files.tools.json");
    let valid = r#"{"path":"a","content":"b"}"#;
    let run = stickler(&["validate", "--tools", &tools, "write_file", "--args", valid]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "`write_file` is valid\n"));
    let invalid = r#"{"pth":"a.txt","content":"hi"}"#;
    let run = stickler(&["validate", "--tools", &tools, "write_file", "--args", invalid]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("write_file {\"path\":\"a.txt\",\"content\":\"hi\"}"));
}

#[test]
fn missing_arguments_are_validated_as_an_empty_object() {
    let tools = fixture("files.tools.json");
    let run = stickler(&["validate", "--tools", &tools, "search", "--format", "json"]);
    assert_eq!(records(&run.stdout)[0]["errors"][0]["path"], "/what");
}

#[test]
fn calls_are_read_from_standard_input() {
    let tools = fixture("files.tools.json");
    let input = b"{\"name\":\"write_file\",\"arguments\":{\"path\":\"a\",\"content\":\"b\"}}\n";
    let run = stickler_with_input(&["validate", "--tools", &tools, "--calls", "-"], input);
    assert_eq!(run.status, 0);
    assert!(run.stdout.ends_with("1 call: 1 valid, 0 invalid\n"), "{}", run.stdout);
}

#[test]
fn quarantined_tool_is_reported_on_stderr_and_not_checked() {
    let tools = fixture("files.tools.json");
    let run = stickler(&["validate", "--tools", &tools, "broken", "--args", "{}"]);
    assert_eq!(run.status, 0);
    assert!(run.stderr.contains("warning: [STK-108] the schema of tool `broken` cannot be used"));
    assert!(run.stdout.contains("not validated"));
}

#[test]
fn repair_can_be_applied_or_switched_off() {
    let tools = fixture("files.tools.json");
    let call = r#"{"Path":"a","content":"b"}"#;
    let run = |repair: &str| {
        let options = ["validate", "--tools", &tools, "write_file", "--args", call];
        stickler(&[&options[..], &["--repair", repair, "--format", "json"]].concat())
    };
    let applied = run("apply");
    assert_eq!(applied.status, 0);
    assert_eq!(records(&applied.stdout)[0]["corrected"]["arguments"]["path"], "a");
    let off = run("off");
    assert_eq!(off.status, 1);
    assert!(records(&off.stdout)[0]["corrected"].is_null());
}

#[test]
fn masked_output_contains_no_values() {
    let tools = fixture("files.tools.json");
    let call = r#"{"pth":"hunter2","content":["hunter2"]}"#;
    for format in ["text", "json"] {
        let options = ["validate", "--tools", &tools, "write_file", "--args", call, "--mask"];
        let run = stickler(&[&options[..], &["--format", format]].concat());
        assert_eq!(run.status, 1);
        assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
    }
}

#[test]
fn unknown_fields_can_follow_the_schema() {
    let tools = fixture("files.tools.json");
    let call = r#"{"path":"a","content":"b","x":1}"#;
    let options = ["validate", "--tools", &tools, "write_file", "--args", call];
    assert_eq!(stickler(&options).status, 1);
    let follow = [&options[..], &["--unknown-fields", "follow-schema"]].concat();
    assert_eq!(stickler(&follow).status, 0);
}
