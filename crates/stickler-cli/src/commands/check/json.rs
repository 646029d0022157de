//! Renders a report as lines of JSON: one per finding, then the summary. The format is documented and
//! stable.

use serde::Serialize;
use serde_json::{Value, json};
use stickler::Revision;
use stickler_protocol::lint::{ExampleState, SchemaState, ToolSummary};

use super::report::{CheckFinding, Report};
use crate::commands::counts::Counts;

#[derive(Serialize)]
struct Record<'f> {
    tool: Option<&'f str>,
    rule: &'static str,
    severity: String,
    path: &'f str,
    message: &'f str,
    fix: &'f str,
    file: Option<&'f str>,
    line: Option<usize>,
}

pub(super) fn print(report: &Report) -> String {
    let mut lines: Vec<String> = report.findings.iter().map(|found| line(report, found)).collect();
    lines.push(json!({ "summary": summary(report) }).to_string());
    lines.push(String::new());
    lines.join("\n")
}

fn line(report: &Report, found: &CheckFinding) -> String {
    let record = Record {
        tool: found.tool.as_deref(),
        rule: found.rule.id,
        severity: found.severity.to_string(),
        path: &found.path,
        message: &found.message,
        fix: &found.fix,
        file: report.file.as_deref(),
        line: found.place.map(|(line, _)| line),
    };
    // Serializing strings and numbers to memory cannot fail.
    serde_json::to_string(&record).unwrap_or_default()
}

fn summary(report: &Report) -> Value {
    let Counts { errors, warnings, notes } = report.counts();
    let coverage = report.coverage();
    json!({
        "checked": report.name,
        "server": report.server,
        "revision": report.revision.map(Revision::as_str),
        "errors": errors,
        "warnings": warnings,
        "notes": notes,
        "known": report.known,
        "coverage": {
            "tools": coverage.tools,
            "schema": coverage.schema,
            "description": coverage.description,
            "example": coverage.example,
            "example_given": coverage.given,
        },
        "tokens": report.tokens(),
        "tools": report.tools.iter().map(tool).collect::<Vec<_>>(),
        "probes": report.probes.iter().map(|probe| json!({
            "probe": probe.name,
            "tool": probe.tool,
            "grade": probe.grade.as_str(),
            "answer": probe.answer,
            "milliseconds": probe.millis,
        })).collect::<Vec<_>>(),
        "network": report.network,
        "not_probed": report.skipped.iter().map(|skipped| json!({
            "tool": skipped.tool,
            "reason": skipped.reason,
        })).collect::<Vec<_>>(),
    })
}

fn tool(tool: &ToolSummary) -> Value {
    json!({
        "name": tool.name,
        "schema": schema_word(tool.schema),
        "description": tool.described,
        "example": example_word(tool.example),
        "tokens": tool.tokens,
    })
}

/// Returns the name of a schema state, also for the text table.
pub(super) fn schema_word(state: SchemaState) -> &'static str {
    match state {
        SchemaState::Usable => "ok",
        SchemaState::Unusable => "unusable",
        SchemaState::Missing => "none",
    }
}

pub(super) fn example_word(state: ExampleState) -> &'static str {
    match state {
        ExampleState::Given => "given",
        ExampleState::Made => "made",
        ExampleState::Missing => "none",
    }
}
