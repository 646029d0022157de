//! The end of the text: which rules, which files, how much in all.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stickler::MessageRule;

use super::tally::Tally;
use crate::commands::counts::{Counts, count, words};
use crate::style::printable;

/// Longest file name in the table.
const LONGEST_NAME: usize = 80;

/// What all files came to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) files: usize,
    pub(super) messages: usize,
    skipped: usize,
    /// For each rule what was found, and in how many files.
    rules: BTreeMap<MessageRule, (Counts, usize)>,
    /// The files with findings.
    found_in: Vec<(String, usize, Counts)>,
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
            self.found_in.push((file.to_owned(), tally.messages, counts));
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
        // The worst rule is the one to begin with.
        let worst = self
            .rules
            .iter()
            .max_by_key(|(_, (counts, _))| (counts.errors, counts.warnings, counts.notes));
        if let Some((rule, _)) = worst {
            let rule = rule.as_str();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\nhint: `stickler explain {rule}` tells what it means and how to mend it\n"
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
        let names: Vec<String> =
            self.found_in.iter().map(|(file, ..)| printable(file, LONGEST_NAME)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        text.push_str("By file:\n");
        for (name, (_, messages, counts)) in names.iter().zip(&self.found_in) {
            let messages = count(*messages, "message");
            let _ = writeln!(text, "  {name:<width$}  {} in {messages}", words(*counts));
        }
        let clean = self.files - self.found_in.len();
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
