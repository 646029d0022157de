//! Findings for people.

use std::collections::HashMap;
use std::fmt::Write as _;

use stickler::MessageRule;

use super::judging::Found;
use super::tally::Tally;
use crate::style::{Ink, printable};

/// Findings of one rule that are shown of one file, unless all are wanted.
const SHOWN: usize = 5;

/// Longest path, message or value that is shown.
const LONGEST: usize = 300;

/// The findings of one file as they come.
pub(super) struct FileText {
    ink: Ink,
    shows_all: bool,
    seen: HashMap<MessageRule, usize>,
}

impl FileText {
    pub(super) fn new(ink: Ink, shows_all: bool) -> Self {
        Self { ink, shows_all, seen: HashMap::new() }
    }

    pub(super) fn finding(&mut self, out: &mut Vec<u8>, file: &str, found: &Found) {
        let seen = self.seen.entry(found.rule).or_default();
        *seen += 1;
        if *seen > SHOWN && !self.shows_all {
            return;
        }
        let place = self.ink.bold(&format!("{}:{}", printable(file, LONGEST), found.line));
        let severity = self.ink.severity(found.severity);
        let rule = found.rule.as_str();
        let mut text = format!("{place}: {severity}[{rule}] {}", found.side.direction());
        if !found.path.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, " at {}", printable(&found.path, LONGEST));
        }
        let _ = writeln!(text, "\n  {}", printable(&found.message, LONGEST));
        if !found.expected.is_empty() {
            let expected = printable(&found.expected, LONGEST);
            let _ = match found.received.as_str() {
                "" => writeln!(text, "  expected {expected}"),
                received => {
                    writeln!(
                        text,
                        "  expected {expected}, received {}",
                        printable(received, LONGEST)
                    )
                }
            };
        }
        text.push('\n');
        out.extend(text.into_bytes());
    }

    /// What was left out.
    pub(super) fn end(self, out: &mut Vec<u8>, file: &str, tally: &Tally) {
        if self.shows_all {
            return;
        }
        let left_out = tally.rules.iter().filter_map(|(rule, counts)| {
            Some((rule, counts.total().checked_sub(SHOWN)?)).filter(|(_, more)| *more > 0)
        });
        let mut text = String::new();
        for (rule, more) in left_out {
            let rule = rule.as_str();
            let _ = writeln!(text, "{}: {more} more of {rule}", printable(file, LONGEST));
        }
        if !text.is_empty() {
            text.push_str("  `--all` shows them\n\n");
        }
        out.extend(text.into_bytes());
    }
}
