//! Renders findings as lines of JSON. The format is documented and stable.

use serde::Serialize;

use super::validation::AuditFinding;
use crate::commands::counts::Counts;

#[derive(Serialize)]
struct Record<'f> {
    file: &'f str,
    line: usize,
    dir: &'static str,
    rule: &'static str,
    severity: String,
    path: &'f str,
    message: &'f str,
    expected: &'f str,
    received: &'f str,
}

#[derive(Serialize)]
struct LastLine {
    summary: Totals,
}

#[derive(Serialize)]
struct Totals {
    messages: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    files: usize,
}

pub(super) fn finding(out: &mut Vec<u8>, file: &str, found: &AuditFinding) {
    write(
        out,
        &Record {
            file,
            line: found.line,
            dir: found.side.direction(),
            rule: found.rule.as_str(),
            severity: found.severity.to_string(),
            path: &found.path,
            message: &found.message,
            expected: &found.expected,
            received: &found.received,
        },
    );
}

pub(super) fn summary(out: &mut Vec<u8>, files: usize, messages: usize, counts: Counts) {
    let Counts { errors, warnings, notes } = counts;
    write(out, &LastLine { summary: Totals { messages, errors, warnings, notes, files } });
}

fn write(out: &mut Vec<u8>, line: &impl Serialize) {
    let start = out.len();
    // Serializing strings and numbers to memory cannot fail; a partial line must not be printed.
    if serde_json::to_writer(&mut *out, line).is_err() {
        out.truncate(start);
        return;
    }
    out.push(b'\n');
}
