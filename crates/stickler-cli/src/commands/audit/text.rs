//! Renders findings as text.

use std::collections::HashMap;
use std::fmt::Write as _;

use stickler::MessageRule;

use super::tally::Tally;
use super::validation::AuditFinding;
use crate::style::{Palette, printable};

/// Findings of one rule that are shown per file, unless all are requested.
const MAX_SHOWN_PER_RULE: usize = 5;

/// Maximum length of a path, message or value.
const MAX_FIELD_CHARS: usize = 300;

/// Renders the findings of one file as they arrive.
pub(super) struct FileText {
    palette: Palette,
    shows_all: bool,
    seen: HashMap<MessageRule, usize>,
}

impl FileText {
    pub(super) fn new(palette: Palette, shows_all: bool) -> Self {
        Self { palette, shows_all, seen: HashMap::new() }
    }

    pub(super) fn finding(&mut self, out: &mut Vec<u8>, file: &str, found: &AuditFinding) {
        let seen = self.seen.entry(found.rule).or_default();
        *seen += 1;
        if *seen > MAX_SHOWN_PER_RULE && !self.shows_all {
            return;
        }
        let place =
            self.palette.bold(&format!("{}:{}", printable(file, MAX_FIELD_CHARS), found.line));
        let severity = self.palette.severity(found.severity);
        let rule = found.rule.as_str();
        let mut text = format!("{place}: {severity}[{rule}] {}", found.side.direction());
        if !found.path.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, " at {}", printable(&found.path, MAX_FIELD_CHARS));
        }
        let _ = writeln!(text, "\n  {}", printable(&found.message, MAX_FIELD_CHARS));
        if !found.expected.is_empty() {
            let expected = printable(&found.expected, MAX_FIELD_CHARS);
            let _ = match found.received.as_str() {
                "" => writeln!(text, "  expected {expected}"),
                received => {
                    writeln!(
                        text,
                        "  expected {expected}, received {}",
                        printable(received, MAX_FIELD_CHARS)
                    )
                }
            };
        }
        text.push('\n');
        out.extend(text.into_bytes());
    }

    /// Renders how many findings were not shown.
    pub(super) fn end(self, out: &mut Vec<u8>, file: &str, tally: &Tally) {
        if self.shows_all {
            return;
        }
        let hidden = tally.rules.iter().filter_map(|(rule, counts)| {
            Some((rule, counts.total().checked_sub(MAX_SHOWN_PER_RULE)?))
                .filter(|(_, more)| *more > 0)
        });
        let mut text = String::new();
        for (rule, more) in hidden {
            let rule = rule.as_str();
            let _ = writeln!(
                text,
                "{}: {more} more findings of {rule}",
                printable(file, MAX_FIELD_CHARS)
            );
        }
        if !text.is_empty() {
            text.push_str("  `--all` shows them\n\n");
        }
        out.extend(text.into_bytes());
    }
}
