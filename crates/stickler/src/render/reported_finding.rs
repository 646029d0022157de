//! Findings in the form in which they are reported to the sender of a message.

use serde::Serialize;

use crate::finding::Finding;

/// The part of a finding that its sender receives, without internals such as the schema path.
#[derive(Debug, Serialize)]
pub struct ReportedFinding<'f> {
    rule: &'static str,
    path: &'f str,
    message: &'f str,
    expected: &'f str,
    received: &'f str,
}

/// Returns the findings in the form in which they are serialized into a response.
pub fn reported_findings(findings: &[Finding]) -> Vec<ReportedFinding<'_>> {
    let reported = findings.iter().map(|finding| ReportedFinding {
        rule: finding.rule.as_str(),
        path: &finding.path,
        message: &finding.message,
        expected: &finding.expected,
        received: &finding.received,
    });
    reported.collect()
}
