//! The lint with the protocol's definition of a tool: members of the wrong type are reported, and
//! each defect is reported by one rule only.

use serde_json::{Value, json};
use stickler::Revision;
use stickler_protocol::lint::{LintOptions, LintReport, lint};

fn examine(tool: &Value, revision: Option<Revision>) -> LintReport {
    let options = LintOptions::default().with_revision(revision);
    lint(json!([tool]).to_string().as_bytes(), &options).unwrap()
}

/// Severity, rule and path of every finding for one tool.
fn found(tool: Value) -> Vec<String> {
    let findings = examine(&tool, None).findings.into_iter();
    findings.map(|one| format!("{} {} {}", one.severity, one.rule.id, one.path)).collect()
}

fn tool(input_schema: Value) -> Value {
    json!({ "name": "tool", "description": "Does a thing.", "inputSchema": input_schema })
}

fn fine() -> Value {
    tool(json!({
        "type": "object",
        "properties": { "a": { "type": "string", "description": "A value." } },
        "required": ["a"],
        "additionalProperties": false,
    }))
}

#[test]
fn sound_tool_has_no_findings() {
    assert_eq!(found(fine()), [""; 0]);
    assert_eq!(found(tool(json!({ "type": "object", "properties": {} }))), [""; 0]);
}

#[test]
fn members_of_the_wrong_type_are_reported_with_their_path() {
    let mut tool = fine();
    tool["annotations"] = json!({ "readOnlyHint": "yes" });
    assert_eq!(found(tool), ["error bad-tool /annotations/readOnlyHint"]);
    let mut tool = fine();
    tool["description"] = json!(7);
    assert!(found(tool).contains(&"error bad-tool /description".to_owned()));
}

#[test]
fn missing_name_or_schema_is_reported_once() {
    assert_eq!(found(json!({ "title": "x" })), ["error bad-tool /name"]);
    let bare = json!({ "name": "t", "description": "d" });
    assert_eq!(found(bare), ["error no-input-schema /inputSchema"]);
    let untyped = tool(json!({ "$schema": "http://json-schema.org/draft-07/schema#" }));
    assert_eq!(found(untyped), ["error input-schema-type /inputSchema/type"]);
}

#[test]
fn severity_of_a_non_object_output_schema_depends_on_the_revision() {
    let mut tool = fine();
    tool["outputSchema"] = json!({ "type": "array", "items": { "type": "string" } });
    let reported = |revision| -> Vec<String> {
        let findings = examine(&tool, revision).findings.into_iter();
        findings.map(|one| format!("{} {}", one.severity, one.rule.id)).collect()
    };
    assert_eq!(reported(None), ["warning output-schema-type"]);
    assert_eq!(reported(Some(Revision::V2025_11_25)), ["error output-schema-type"]);
    assert_eq!(reported(Some(Revision::V2026_07_28)), [""; 0]);
}
