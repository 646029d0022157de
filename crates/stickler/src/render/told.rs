//! Findings as the sender of the message gets to see them.

use serde::Serialize;

use crate::finding::Finding;

/// A finding as its cause gets to see it: nothing of how it was found.
#[derive(Debug, Serialize)]
pub struct Told<'f> {
    rule: &'static str,
    path: &'f str,
    message: &'f str,
    expected: &'f str,
    received: &'f str,
}

/// The findings, ready to be written into an answer.
pub fn told(findings: &[Finding]) -> Vec<Told<'_>> {
    let told = findings.iter().map(|finding| Told {
        rule: finding.rule.as_str(),
        path: &finding.path,
        message: &finding.message,
        expected: &finding.expected,
        received: &finding.received,
    });
    told.collect()
}
