//! For the rules' own tests: a tool in, what is found out.

use serde_json::{Value, json};

use super::{LintFinding, LintOptions, LintReport, lint_with};
use crate::discovery::ToolListError;

/// A tool that nothing is to be said about but what its schema gives cause for.
pub(super) fn tool(input_schema: &Value) -> Value {
    json!({ "name": "tool", "description": "Does a thing.", "inputSchema": input_schema })
}

/// A fine schema with one parameter of the given form.
pub(super) fn with_parameter(mut parameter: Value) -> Value {
    if let Some(keywords) = parameter.as_object_mut() {
        keywords.entry("description").or_insert_with(|| "A value.".into());
    }
    tool(&json!({
        "type": "object", "properties": { "a": parameter }, "required": ["a"],
        "additionalProperties": false,
    }))
}

/// Without the protocol's own definition of a tool.
pub(super) fn lint(list: &[u8], options: &LintOptions) -> Result<LintReport, ToolListError> {
    lint_with(list, options, &|_| Vec::new())
}

pub(super) fn findings(tools: &Value) -> Vec<LintFinding> {
    lint(tools.to_string().as_bytes(), &LintOptions::default()).unwrap().findings
}

/// Rule, severity and place of everything that is found about one tool.
pub(super) fn found(tool: Value) -> Vec<(&'static str, String, String)> {
    findings(&Value::Array(vec![tool]))
        .into_iter()
        .map(|one| (one.rule.id, one.severity.to_string(), one.path))
        .collect()
}

pub(super) fn one(
    rule: &'static str,
    severity: &str,
    path: &str,
) -> Vec<(&'static str, String, String)> {
    vec![(rule, severity.to_owned(), path.to_owned())]
}

#[test]
fn a_fine_tool_gives_no_cause_for_anything() {
    assert_eq!(found(with_parameter(json!({ "type": "string" }))), []);
    assert_eq!(found(tool(&json!({ "type": "object", "properties": {} }))), []);
}

#[test]
fn every_rule_is_in_the_table() {
    for finding in findings(&json!([{}, { "name": "" }, { "name": "x", "inputSchema": 3 }])) {
        assert_eq!(crate::rules::find(finding.rule.id), Some(finding.rule));
    }
}
