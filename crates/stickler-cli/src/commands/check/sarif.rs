//! Renders a report as SARIF 2.1.0, for code scanning.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stickler::{Rule, Severity};

use super::report::{CheckFinding, Report};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn print(report: &Report) -> String {
    let mut rules: Vec<&Rule> = report.findings.iter().map(|found| found.rule).collect();
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    let results: Vec<Value> =
        report.findings.iter().map(|found| result(report, &rules, found)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "stickler",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            "results": results,
            "columnKind": "unicodeCodePoints",
        }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule.fix },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn result(report: &Report, rules: &[&Rule], found: &CheckFinding) -> Value {
    let tool = found.tool.as_deref();
    let about = tool.map_or_else(String::new, |tool| format!("`{tool}`: "));
    let mut location = json!({});
    // Code scanning rejects results without a physical location.
    if let Some(file) = report.file.as_ref().or(report.artifact.as_ref()) {
        let (line, column) = found.place.unwrap_or((1, 1));
        location["physicalLocation"] = json!({
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line, "startColumn": column },
        });
    }
    location["logicalLocations"] = json!([{
        "name": tool.unwrap_or(&report.name),
        "fullyQualifiedName": format!("{}{}", tool.unwrap_or_default(), found.path),
        "kind": "function",
    }]);
    json!({
        "ruleId": found.rule.id,
        "ruleIndex": rules.iter().position(|rule| rule.id == found.rule.id),
        "level": level(found.severity),
        "message": { "text": format!("{about}{}. {}", found.message, found.fix) },
        "locations": [location],
        "partialFingerprints": {
            "sticklerFinding/v1": format!("{}:{}:{}", found.rule.id, tool.unwrap_or_default(), found.path),
        },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Percent-encodes a path as a URI reference, relative to the repository if the path is relative.
fn uri(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/+@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_percent_encoded() {
        assert_eq!(uri("a b/c#1.json"), "a%20b/c%231.json");
        assert_eq!(uri("./a.json"), "a.json");
        assert_eq!(uri("/a b.json"), "file:///a%20b.json");
    }
}
