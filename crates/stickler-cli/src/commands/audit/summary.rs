//! The summary at the end of the text output: findings by rule, by file and in total.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stickler::MessageRule;

use super::tally::Tally;
use crate::commands::counts::{Counts, count, words};
use crate::style::printable;

/// Maximum length of a file name in the table.
const MAX_NAME_CHARS: usize = 80;

/// Totals of all files.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) files: usize,
    pub(super) messages: usize,
    skipped: usize,
    /// Findings and number of files per rule.
    rules: BTreeMap<MessageRule, (Counts, usize)>,
    /// Files with findings.
    files_with_findings: Vec<(String, usize, Counts)>,
}

impl Summary {
    pub(super) fn add(&mut self, file: &str, tally: &Tally) {
        self.files += 1;
        self.messages += tally.messages;
        self.skipped += tally.skipped;
        for (rule, counts) in &tally.rules {
            let (all, files) = self.rules.entry(*rule).or_default();
            *all += *counts;
            *files += 1;
        }
        let counts = tally.counts();
        if counts.total() > 0 {
            self.files_with_findings.push((file.to_owned(), tally.messages, counts));
        }
    }

    pub(super) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.rules.values().for_each(|(counts, _)| all += *counts);
        all
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut text = String::new();
        if !self.rules.is_empty() {
            self.write_rules(&mut text);
            if self.files > 1 {
                self.write_files(&mut text);
            }
        }
        self.write_totals(&mut text);
        // The hint names the rule with the most severe findings.
        let worst = self
            .rules
            .iter()
            .max_by_key(|(_, (counts, _))| (counts.errors, counts.warnings, counts.notes));
        if let Some((rule, _)) = worst {
            let rule = rule.as_str();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\nhint: `stickler explain {rule}` shows what it means and how to fix it\n"
            );
        }
        out.extend(text.into_bytes());
    }

    fn write_rules(&self, text: &mut String) {
        let width = self.rules.keys().map(|rule| rule.as_str().len()).max().unwrap_or_default();
        text.push_str("By rule:\n");
        for (rule, (counts, files)) in &self.rules {
            let rule = rule.as_str();
            let place = if self.files > 1 {
                format!(" in {}", count(*files, "file"))
            } else {
                String::new()
            };
            let _ = writeln!(text, "  {rule:<width$}  {}{place}", words(*counts));
        }
        text.push('\n');
    }

    fn write_files(&self, text: &mut String) {
        let names: Vec<String> = self
            .files_with_findings
            .iter()
            .map(|(file, ..)| printable(file, MAX_NAME_CHARS))
            .collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        text.push_str("By file:\n");
        for (name, (_, messages, counts)) in names.iter().zip(&self.files_with_findings) {
            let messages = count(*messages, "message");
            let _ = writeln!(text, "  {name:<width$}  {} in {messages}", words(*counts));
        }
        let clean = self.files - self.files_with_findings.len();
        if clean > 0 {
            let _ = writeln!(text, "  {} without findings", count(clean, "file"));
        }
        text.push('\n');
    }

    fn write_totals(&self, text: &mut String) {
        let (files, messages) = (count(self.files, "file"), count(self.messages, "message"));
        let found = match self.counts() {
            counts if counts.total() == 0 => "no findings".to_owned(),
            counts => words(counts),
        };
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(" ({} skipped)", count(skipped, "line")),
        };
        let _ = writeln!(text, "{files}, {messages}{skipped}: {found}");
    }
}
