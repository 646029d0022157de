//! Checks tool definitions in a file and locates the line of every finding.

use std::path::Path;

use stickler::tape::{Node, Tape, TapeBuffer};
use stickler_protocol::lint::{LintFinding, LintOptions, lint};

use super::options::CheckOptions;
use super::report::{CheckFinding, Report};
use crate::commands::validate::tools::{read, unusable};
use crate::exit::Failure;

/// Findings in definitions nested deeper have no line.
const MAX_DEPTH: usize = 1 << 12;

pub(super) fn check(path: &Path, options: &CheckOptions) -> Result<Report, Failure> {
    let text = read(path)?;
    let lint_options = LintOptions::default().with_revision(options.revision);
    let report = lint(&text, &lint_options).map_err(|error| unusable(path, error))?;
    let name = path.display().to_string();
    Ok(Report {
        file: Some(name.clone()),
        name,
        revision: options.revision,
        tools: report.tools,
        findings: placed(&text, report.findings),
        ..Report::default()
    })
}

fn placed(text: &[u8], findings: Vec<LintFinding>) -> Vec<CheckFinding> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text, MAX_DEPTH).ok();
    let root = tape.as_ref().map(Tape::root);
    let entries = root
        .map(|root| root.pointer("/result/tools").or_else(|| root.get("tools")).unwrap_or(root));
    let lines = Lines::of(text);
    let place = |finding: &LintFinding| {
        let entry = entries?.elements().nth(finding.index?)?;
        Some(lines.place(nearest(entry, &finding.path).span().start))
    };
    let found = findings.into_iter().map(|finding| {
        let place = place(&finding);
        CheckFinding { place, ..CheckFinding::from(finding) }
    });
    found.collect()
}

/// Returns the value at a pointer, or the nearest existing ancestor.
fn nearest<'t>(entry: Node<'t>, pointer: &str) -> Node<'t> {
    let mut pointer = pointer;
    loop {
        if let Some(node) = entry.pointer(pointer) {
            return node;
        }
        match pointer.rsplit_once('/') {
            Some((outer, _)) => pointer = outer,
            None => return entry,
        }
    }
}

/// Offsets of line starts.
struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t [u8]) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Returns line and column of a byte offset, counted from 1; columns count characters.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        (line, String::from_utf8_lossy(before).chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let lines = Lines::of("a\nöb\n".as_bytes());
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(2), (2, 1));
        assert_eq!(lines.place(4), (2, 2));
    }
}
