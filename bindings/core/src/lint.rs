//! Lints tool definitions.

use serde_json::{Value, json};
use stickler::Revision;
use stickler_protocol::lint::{LintFinding, LintOptions};

/// Lints a tool list. Returns a JSON array of findings in the form of `stickler check --format json`. The revision is
/// that of the server; without one, the definitions are checked against the newest.
pub fn lint(tools: &str, revision: Option<&str>) -> Result<String, String> {
    let revision = match revision {
        None => None,
        Some(name) => Some(
            Revision::parse(name).ok_or_else(|| format!("`{name}` is not a revision of MCP"))?,
        ),
    };
    let options = LintOptions::default().with_revision(revision);
    let report = stickler_protocol::lint::lint(tools.as_bytes(), &options)
        .map_err(|error| format!("the tool list cannot be used: {error}"))?;
    Ok(report.findings.iter().map(record).collect::<Value>().to_string())
}

fn record(finding: &LintFinding) -> Value {
    json!({
        "tool": finding.tool,
        "rule": finding.rule.id,
        "severity": finding.severity.to_string(),
        "path": finding.path,
        "message": finding.message,
        "fix": finding.fix,
    })
}
