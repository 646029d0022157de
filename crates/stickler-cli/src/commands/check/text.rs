//! A report for people: a table, then details tool by tool, then how much in all.

use std::collections::HashSet;
use std::fmt::Write as _;

use stickler::Severity;

use super::json::{example_word, schema_word};
use super::live::Probed;
use super::report::{Found, Report};
use crate::commands::counts::{Counts, count, words};
use crate::style::{Ink, printable};

/// Findings of one rule that are shown of one tool, unless all are wanted.
const SHOWN: usize = 3;

/// Longest message that is shown.
const LONGEST: usize = 400;

/// Longest name in a table.
const LONGEST_NAME: usize = 48;

pub(super) fn print(report: &Report, ink: Ink, shows_all: bool) -> String {
    let mut text = Text { out: String::new(), ink, shows_all, said: HashSet::new() };
    text.heading(report);
    text.table(report);
    text.details(report);
    text.probes(report);
    text.totals(report);
    text.out
}

struct Text {
    out: String,
    ink: Ink,
    shows_all: bool,
    /// Messages and fixes that were told already.
    said: HashSet<String>,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, report: &Report) {
        let server = report.server.as_deref().map(|server| printable(server, LONGEST_NAME));
        let server = server.filter(|server| *server != report.name);
        let revision = report.revision.map(|revision| format!("MCP {revision}"));
        let details: Vec<String> = server.into_iter().chain(revision).collect();
        let mut heading = self.ink.bold(&printable(&report.name, LONGEST));
        if !details.is_empty() {
            let _ = write!(heading, " ({})", details.join(", "));
        }
        self.line(&heading);
        self.line("");
    }

    fn table(&mut self, report: &Report) {
        if report.tools.is_empty() {
            return;
        }
        let mut rows = vec![
            ["tool", "schema", "description", "example", "tokens", "findings"].map(str::to_owned),
        ];
        for tool in &report.tools {
            let found = report.counts_of(&tool.name);
            rows.push([
                printable(&tool.name, LONGEST_NAME),
                schema_word(tool.schema).to_owned(),
                if tool.described { "yes" } else { "no" }.to_owned(),
                example_word(tool.example).to_owned(),
                tool.tokens.to_string(),
                if found.total() == 0 { "-".to_owned() } else { words(found) },
            ]);
        }
        self.rows(&rows);
        self.line("");
    }

    /// Columns as wide as they must be; numbers to the right.
    fn rows<const N: usize>(&mut self, rows: &[[String; N]]) {
        let wide = |column: usize| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        };
        let widths: [usize; N] = std::array::from_fn(wide);
        for row in rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| {
                let is_number = cell.ends_with(|c: char| c.is_ascii_digit())
                    && cell.starts_with(|c: char| c.is_ascii_digit());
                if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            self.line(&line);
        }
    }

    fn details(&mut self, report: &Report) {
        let mut told = HashSet::new();
        for tool in &report.tools {
            let found: Vec<&Found> = report.of_tool(Some(&tool.name)).collect();
            if !found.is_empty() && told.insert(&tool.name) {
                self.section(&tool.name, &found);
            }
        }
        let found: Vec<&Found> = report.of_tool(None).collect();
        if !found.is_empty() {
            self.section(if report.file.is_some() { "the list" } else { "the server" }, &found);
        }
    }

    fn section(&mut self, name: &str, found: &[&Found]) {
        let name = self.ink.bold(&printable(name, LONGEST_NAME));
        self.line(&name);
        let mut groups: Vec<(&str, Severity, Vec<&Found>)> = Vec::new();
        for one in found {
            let same = |(rule, severity, _): &&mut (&str, Severity, Vec<&Found>)| {
                *rule == one.rule.id && *severity == one.severity
            };
            match groups.iter_mut().find(same) {
                Some((.., group)) => group.push(one),
                None => groups.push((one.rule.id, one.severity, vec![one])),
            }
        }
        // What is worst comes first; what is alike keeps its order.
        groups.sort_by_key(|(_, severity, _)| std::cmp::Reverse(*severity));
        for (rule, severity, group) in groups {
            self.group(rule, severity, &group);
        }
        self.line("");
    }

    fn group(&mut self, rule: &str, severity: Severity, group: &[&Found]) {
        let label = format!("  {}[{rule}]", self.ink.severity(severity));
        let shown = if self.shows_all { group.len() } else { SHOWN };
        let mut heads = Vec::new();
        for one in group.iter().take(shown) {
            heads.push(place(one));
            // What was said of another place in the same words is not said again.
            let is_news = self.said.insert(wording(&one.message)) || severity > Severity::Note;
            if !is_news {
                continue;
            }
            self.line(&format!("{label}{}", join(&heads)));
            heads.clear();
            self.line(&format!("      {}", printable(&one.message, LONGEST)));
            if self.said.insert(one.fix.clone()) || severity == Severity::Error {
                self.line(&format!("      fix: {}", printable(&one.fix, LONGEST)));
            }
        }
        let more = group.len().saturating_sub(shown);
        if more > 0 {
            heads.push(format!("{more} more (`--all` shows them)"));
        }
        if !heads.is_empty() {
            self.line(&format!("{label}{}", join(&heads)));
        }
    }

    fn probes(&mut self, report: &Report) {
        if !report.probes.is_empty() {
            let title = self.ink.bold("What was tried");
            self.line(&title);
            let mut rows = vec![["probe", "tool", "grade", "ms", "answer"].map(str::to_owned)];
            rows.extend(report.probes.iter().map(probe_row));
            self.rows(&rows);
            self.line("");
        }
        if report.spared.is_empty() {
            return;
        }
        let title = self.ink.bold("Tools that were not called");
        self.line(&title);
        let mut reasons: Vec<&str> = Vec::new();
        for spared in &report.spared {
            if !reasons.contains(&spared.reason.as_str()) {
                reasons.push(&spared.reason);
            }
        }
        for reason in reasons {
            let tools: Vec<String> = report
                .spared
                .iter()
                .filter(|spared| spared.reason == reason)
                .map(|spared| printable(&spared.tool, LONGEST_NAME))
                .collect();
            self.line(&format!("  {reason}: {}", tools.join(", ")));
        }
        self.line("");
    }

    fn totals(&mut self, report: &Report) {
        let coverage = report.coverage();
        let tools = coverage.tools;
        if tools > 0 {
            self.line(&format!(
                "Coverage: schema {} of {tools}, description {} of {tools}, valid example {} of \
                 {tools} ({} given, {} made)",
                coverage.schema,
                coverage.description,
                coverage.example,
                coverage.given,
                coverage.example - coverage.given,
            ));
            self.line(&format!("Cost: about {} tokens for the whole list", report.tokens()));
        }
        let found = match report.counts() {
            counts if counts.total() == 0 => "no findings".to_owned(),
            counts => words(counts),
        };
        let known = match report.known {
            0 => String::new(),
            known => format!(" ({known} known)"),
        };
        self.line(&format!("{}: {found}{known}", count(tools, "tool")));
        if let Some(worst) = worst(report) {
            let rule = worst.rule.id;
            self.line("");
            self.line(&format!(
                "hint: `stickler explain {rule}` tells what it means and how to mend it"
            ));
        }
    }
}

/// Where a finding is, for people.
fn place(found: &Found) -> String {
    // What was tried is told by the message.
    let path = if found.path.starts_with("/probes/") { "" } else { &found.path };
    let mut place = printable(path, LONGEST);
    if let Some((line, _)) = found.place {
        let _ = write!(place, " (line {line})");
    }
    place
}

fn join(places: &[String]) -> String {
    let places: Vec<&str> =
        places.iter().map(|one| one.trim()).filter(|one| !one.is_empty()).collect();
    if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) }
}

/// A message without the names in it.
fn wording(message: &str) -> String {
    message.split('`').step_by(2).collect()
}

fn probe_row(probe: &Probed) -> [String; 5] {
    [
        probe.name.to_owned(),
        probe.tool.as_deref().map_or_else(|| "-".to_owned(), |tool| printable(tool, LONGEST_NAME)),
        probe.grade.as_str().to_owned(),
        probe.millis.to_string(),
        printable(&probe.answer, 72),
    ]
}

/// The first of the worst, to begin with.
fn worst(report: &Report) -> Option<&Found> {
    let Counts { errors, warnings, .. } = report.counts();
    let severity = match (errors, warnings) {
        (0, 0) => return None,
        (0, _) => Severity::Warning,
        _ => Severity::Error,
    };
    report.findings.iter().find(|found| found.severity == severity)
}
