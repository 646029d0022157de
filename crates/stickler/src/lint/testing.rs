//! Test support for the lint rules: lints a tool and returns the findings in a short form.

use serde_json::{Value, json};

use super::{LintFinding, LintOptions, LintReport, lint_with};
use crate::discovery::ToolListError;

/// Returns a tool that causes findings only through its schema.
pub(super) fn tool(input_schema: &Value) -> Value {
    json!({ "name": "tool", "description": "Does a thing.", "inputSchema": input_schema })
}

/// Returns a tool with a valid schema and one parameter with the given schema.
pub(super) fn with_parameter(mut parameter: Value) -> Value {
    if let Some(keywords) = parameter.as_object_mut() {
        keywords.entry("description").or_insert_with(|| "A value.".into());
    }
    tool(&json!({
        "type": "object", "properties": { "a": parameter }, "required": ["a"],
        "additionalProperties": false,
    }))
}

/// Lints without the protocol's definition of a tool.
pub(super) fn lint(list: &[u8], options: &LintOptions) -> Result<LintReport, ToolListError> {
    lint_with(list, options, &|_| Vec::new())
}

pub(super) fn list_findings(tools: &Value) -> Vec<LintFinding> {
    lint(tools.to_string().as_bytes(), &LintOptions::default()).unwrap().findings
}

/// Returns rule, severity and path of each finding about one tool.
pub(super) fn tool_findings(tool: Value) -> Vec<(&'static str, String, String)> {
    list_findings(&Value::Array(vec![tool]))
        .into_iter()
        .map(|one| (one.rule.id, one.severity.to_string(), one.path))
        .collect()
}

pub(super) fn single(
    rule: &'static str,
    severity: &str,
    path: &str,
) -> Vec<(&'static str, String, String)> {
    vec![(rule, severity.to_owned(), path.to_owned())]
}

#[test]
fn valid_tool_has_no_findings() {
    assert_eq!(tool_findings(with_parameter(json!({ "type": "string" }))), []);
    assert_eq!(tool_findings(tool(&json!({ "type": "object", "properties": {} }))), []);
}

#[test]
fn every_reported_rule_is_in_the_table() {
    for finding in list_findings(&json!([{}, { "name": "" }, { "name": "x", "inputSchema": 3 }])) {
        assert_eq!(crate::rules::find(finding.rule.id), Some(finding.rule));
    }
}
