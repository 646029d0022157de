//! Checks what the protocol requires of every tool definition.

use serde_json::Value;

use super::ProtocolErrors;
use super::report::Findings;
use super::subject::Subject;
use crate::revision::Revision;
use crate::rules::{Severity, tools};
use crate::tape::Node;

/// Maximum nesting of a definition that is validated against the protocol schema. The depth of the
/// tool's schemas is reported separately.
const MAX_DEFINITION_DEPTH: usize = 128;

pub(super) fn report_unnamed(index: usize, findings: &mut Findings) {
    let message = format!("entry {index} of the list does not have a name, so it cannot be called");
    findings.end_tool();
    findings.add(&tools::BAD_TOOL, "/name", message).index(index).fix("Add a `name`, a string.");
}

pub(super) fn check(
    subject: &Subject,
    entry: Node<'_>,
    revision: Option<Revision>,
    protocol_errors: &ProtocolErrors<'_>,
    findings: &mut Findings,
) {
    if subject.compiled.is_none() {
        findings.add(
            &tools::NO_INPUT_SCHEMA,
            "/inputSchema",
            "the tool does not have an `inputSchema`",
        );
    }
    if !subject.is_described() {
        findings.add(
            &tools::NO_DESCRIPTION,
            "/description",
            "the tool does not have a description",
        );
    }
    roots(subject, revision, findings);
    hints(subject, findings);
    if entry.depth() <= MAX_DEFINITION_DEPTH {
        protocol_schema(entry, protocol_errors, findings);
    }
}

fn roots(subject: &Subject, revision: Option<Revision>, findings: &mut Findings) {
    let is_object = |schema: &Value| schema.get("type") == Some(&Value::from("object"));
    if let Some(schema) = subject.input().filter(|schema| schema.is_object() && !is_object(schema))
    {
        let message = match schema.get("type") {
            None => "the root of `inputSchema` does not have a `type`".to_owned(),
            Some(other) => format!("the root of `inputSchema` has the type {other}"),
        };
        findings.add(&tools::INPUT_SCHEMA_TYPE, "/inputSchema/type", message);
    }
    if let Some(schema) = subject.output().filter(|schema| schema.is_object() && !is_object(schema))
        && revision.is_none_or(|revision| revision < Revision::V2026_07_28)
    {
        let actual = match schema.get("type") {
            None => "does not have a `type`".to_owned(),
            Some(other) => format!("has the type {other}"),
        };
        let message = format!("the root of `outputSchema` {actual}, expected `\"object\"`");
        let severity = if revision.is_some() { Severity::Error } else { Severity::Warning };
        findings.add(&tools::OUTPUT_SCHEMA_TYPE, "/outputSchema/type", message).severity(severity);
    }
}

fn hints(subject: &Subject, findings: &mut Findings) {
    let is_set = |hint: &str| subject.annotations.get(hint) == Some(&Value::Bool(true));
    if is_set("readOnlyHint") && is_set("destructiveHint") {
        let message = "the tool declares both `readOnlyHint` and `destructiveHint`";
        findings.add(&tools::CONTRADICTORY_HINTS, "/annotations", message);
    }
}

/// Paths that other rules cover.
const COVERED_PATHS: [&str; 5] =
    ["/inputSchema", "/inputSchema/type", "/outputSchema", "/outputSchema/type", "/name"];

fn protocol_schema(entry: Node<'_>, protocol_errors: &ProtocolErrors<'_>, findings: &mut Findings) {
    for error in protocol_errors(entry) {
        let is_schema = error.path == "/inputSchema" && entry.get("inputSchema").is_some();
        if !is_schema && COVERED_PATHS.contains(&error.path.as_str()) {
            continue;
        }
        // An error inside a schema makes it unusable, which STK-108 reports.
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
    use super::super::testing::{lint, single, tool, tool_findings, with_parameter};
    use crate::revision::Revision;
    use serde_json::json;

    #[test]
    fn entry_without_a_name_is_reported() {
        assert_eq!(tool_findings(json!({ "title": "x" })), single("bad-tool", "error", "/name"));
    }

    #[test]
    fn tool_without_an_input_schema_is_reported() {
        let tool = json!({ "name": "t", "description": "d" });
        assert_eq!(tool_findings(tool), single("no-input-schema", "error", "/inputSchema"));
    }

    #[test]
    fn tool_without_a_description_is_reported() {
        for description in [json!(null), json!("  "), json!("")] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["description"] = description;
            let found = tool_findings(tool);
            let expected = single("no-description", "warning", "/description");
            assert!(found.contains(&expected[0]), "{found:?}");
        }
    }

    #[test]
    fn input_schema_root_without_object_type_is_reported() {
        let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#" });
        assert_eq!(
            tool_findings(tool(&schema)),
            single("input-schema-type", "error", "/inputSchema/type")
        );
    }

    #[test]
    fn severity_of_a_non_object_output_schema_depends_on_the_revision() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["outputSchema"] = json!({ "type": "array", "items": { "type": "string" } });
        let severity = |revision| {
            let options = LintOptions::default().with_revision(revision);
            let report = lint(json!([tool.clone()]).to_string().as_bytes(), &options).unwrap();
            report.findings.iter().map(|one| format!("{} {}", one.severity, one.rule.id)).collect()
        };
        let rule = "output-schema-type";
        let rules: Vec<String> = severity(None);
        assert_eq!(rules, [format!("warning {rule}")]);
        assert_eq!(severity(Some(Revision::V2025_11_25)), [format!("error {rule}")]);
        assert_eq!(severity(Some(Revision::V2026_07_28)), [""; 0]);
    }

    #[test]
    fn contradictory_hints_are_reported() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["annotations"] = json!({ "readOnlyHint": true, "destructiveHint": false });
        assert_eq!(tool_findings(tool.clone()), []);
        tool["annotations"]["destructiveHint"] = true.into();
        assert_eq!(tool_findings(tool), single("contradictory-hints", "warning", "/annotations"));
    }
}
