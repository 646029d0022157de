//! The definition itself: what the protocol asks of every tool.

use serde_json::Value;

use super::Shape;
use super::report::Findings;
use super::subject::Subject;
use crate::revision::Revision;
use crate::rules::{Severity, tools};
use crate::tape::Node;

/// Deeper definitions are not compared with the protocol's shape: their schemas are told apart.
const DEEPEST: usize = 128;

pub(super) fn nameless(index: usize, findings: &mut Findings) {
    let message = format!("entry {index} of the list has no name, so it cannot be called");
    findings.end();
    findings
        .add(&tools::BAD_TOOL, "/name", message)
        .index(index)
        .fix("Give the tool a `name`, a string.");
}

pub(super) fn check(
    subject: &Subject,
    entry: Node<'_>,
    revision: Option<Revision>,
    shape: &Shape<'_>,
    findings: &mut Findings,
) {
    if subject.compiled.is_none() {
        findings.add(&tools::NO_INPUT_SCHEMA, "/inputSchema", "it has no `inputSchema`");
    }
    if !subject.is_described() {
        findings.add(&tools::NO_DESCRIPTION, "/description", "it has no description");
    }
    roots(subject, revision, findings);
    hints(subject, findings);
    if entry.depth() <= DEEPEST {
        add_shape(entry, shape, findings);
    }
}

fn roots(subject: &Subject, revision: Option<Revision>, findings: &mut Findings) {
    let is_object = |schema: &Value| schema.get("type") == Some(&Value::from("object"));
    if let Some(schema) = subject.input().filter(|schema| schema.is_object() && !is_object(schema))
    {
        let message = match schema.get("type") {
            None => "the root of `inputSchema` has no `type`".to_owned(),
            Some(other) => format!("the root of `inputSchema` has the type {other}"),
        };
        findings.add(&tools::INPUT_SCHEMA_TYPE, "/inputSchema/type", message);
    }
    if let Some(schema) = subject.output().filter(|schema| schema.is_object() && !is_object(schema))
        && revision.is_none_or(|revision| revision < Revision::V2026_07_28)
    {
        let what = match schema.get("type") {
            None => "has no `type`".to_owned(),
            Some(other) => format!("has the type {other}"),
        };
        let message = format!("the root of `outputSchema` {what}, not `\"object\"`");
        let severity = if revision.is_some() { Severity::Error } else { Severity::Warning };
        findings.add(&tools::OUTPUT_SCHEMA_TYPE, "/outputSchema/type", message).severity(severity);
    }
}

fn hints(subject: &Subject, findings: &mut Findings) {
    let says = |hint: &str| subject.annotations.get(hint) == Some(&Value::Bool(true));
    if says("readOnlyHint") && says("destructiveHint") {
        let message = "it says of itself that it only reads, and that it can destroy";
        findings.add(&tools::CONTRADICTORY_HINTS, "/annotations", message);
    }
}

/// Places that have a rule of their own.
const TOLD: [&str; 5] =
    ["/inputSchema", "/inputSchema/type", "/outputSchema", "/outputSchema/type", "/name"];

fn add_shape(entry: Node<'_>, shape: &Shape<'_>, findings: &mut Findings) {
    for error in shape(entry) {
        let is_schema = error.path == "/inputSchema" && entry.get("inputSchema").is_some();
        if !is_schema && TOLD.contains(&error.path.as_str()) {
            continue;
        }
        // Whatever is wrong inside of a schema makes it unusable, which is said elsewhere.
        let inside = ["/inputSchema/", "/outputSchema/"];
        if inside.iter().any(|schema| error.path.starts_with(schema)) {
            continue;
        }
        findings.add(&tools::BAD_TOOL, error.path, error.message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::LintOptions;
    use super::super::testing::{found, lint, one, tool, with_parameter};
    use crate::revision::Revision;
    use serde_json::json;

    #[test]
    fn an_entry_without_a_name() {
        assert_eq!(found(json!({ "title": "x" })), one("bad-tool", "error", "/name"));
    }

    #[test]
    fn a_tool_without_a_schema() {
        let tool = json!({ "name": "t", "description": "d" });
        assert_eq!(found(tool), one("no-input-schema", "error", "/inputSchema"));
    }

    #[test]
    fn a_tool_without_a_description() {
        for description in [json!(null), json!("  "), json!("")] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["description"] = description;
            let found = found(tool);
            let expected = one("no-description", "warning", "/description");
            assert!(found.contains(&expected[0]), "{found:?}");
        }
    }

    #[test]
    fn a_root_that_is_no_object() {
        let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#" });
        assert_eq!(found(tool(&schema)), one("input-schema-type", "error", "/inputSchema/type"));
    }

    #[test]
    fn an_output_schema_that_is_no_object_depends_on_the_revision() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["outputSchema"] = json!({ "type": "array", "items": { "type": "string" } });
        let severity = |revision| {
            let options = LintOptions::default().with_revision(revision);
            let report = lint(json!([tool.clone()]).to_string().as_bytes(), &options).unwrap();
            report.findings.iter().map(|one| format!("{} {}", one.severity, one.rule.id)).collect()
        };
        let rule = "output-schema-type";
        let told: Vec<String> = severity(None);
        assert_eq!(told, [format!("warning {rule}")]);
        assert_eq!(severity(Some(Revision::V2025_11_25)), [format!("error {rule}")]);
        assert_eq!(severity(Some(Revision::V2026_07_28)), [""; 0]);
    }

    #[test]
    fn hints_that_contradict_each_other() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["annotations"] = json!({ "readOnlyHint": true, "destructiveHint": false });
        assert_eq!(found(tool.clone()), []);
        tool["annotations"]["destructiveHint"] = true.into();
        assert_eq!(found(tool), one("contradictory-hints", "warning", "/annotations"));
    }
}
