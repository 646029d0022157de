//! Renders a report as text: a table of tools, the findings per tool, the probes and the totals.

use std::collections::HashSet;
use std::fmt::Write as _;

use stickler::Severity;

use super::json::{example_word, schema_word};
use super::live::ProbeResult;
use super::report::{CheckFinding, Report};
use crate::commands::counts::{Counts, count, words};
use crate::style::{Palette, printable};

/// Findings of one rule that are shown per tool, unless all are requested.
const MAX_SHOWN_PER_RULE: usize = 3;

/// Maximum length of a message.
const MAX_MESSAGE_CHARS: usize = 400;

/// Maximum length of a name in a table.
const MAX_NAME_CHARS: usize = 48;

pub(super) fn print(report: &Report, palette: Palette, shows_all: bool) -> String {
    let mut text = Text { out: String::new(), palette, shows_all, printed: HashSet::new() };
    text.heading(report);
    text.table(report);
    text.details(report);
    text.probes(report);
    text.totals(report);
    text.out
}

/// Prints only the findings, for `--quiet`.
pub(super) fn print_findings(report: &Report, palette: Palette) -> String {
    let mut text = Text { out: String::new(), palette, shows_all: true, printed: HashSet::new() };
    text.details(report);
    text.out
}

struct Text {
    out: String,
    palette: Palette,
    shows_all: bool,
    /// Messages and fixes that are already printed.
    printed: HashSet<String>,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, report: &Report) {
        let server = report.server.as_deref().map(|server| printable(server, MAX_NAME_CHARS));
        let server = server.filter(|server| *server != report.name);
        let revision = report.revision.map(|revision| format!("MCP {revision}"));
        let details: Vec<String> = server.into_iter().chain(revision).collect();
        let mut heading = self.palette.bold(&printable(&report.name, MAX_MESSAGE_CHARS));
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
                printable(&tool.name, MAX_NAME_CHARS),
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

    /// Prints rows in columns of minimum width; numbers are right-aligned.
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
        let mut printed_tools = HashSet::new();
        for tool in &report.tools {
            let found: Vec<&CheckFinding> = report.of_tool(Some(&tool.name)).collect();
            if !found.is_empty() && printed_tools.insert(&tool.name) {
                self.section(&tool.name, &found);
            }
        }
        let found: Vec<&CheckFinding> = report.of_tool(None).collect();
        if !found.is_empty() {
            self.section(if report.file.is_some() { "the list" } else { "the server" }, &found);
        }
    }

    fn section(&mut self, name: &str, found: &[&CheckFinding]) {
        let name = self.palette.bold(&printable(name, MAX_NAME_CHARS));
        self.line(&name);
        let mut groups: Vec<(&str, Severity, Vec<&CheckFinding>)> = Vec::new();
        for one in found {
            let same = |(rule, severity, _): &&mut (&str, Severity, Vec<&CheckFinding>)| {
                *rule == one.rule.id && *severity == one.severity
            };
            match groups.iter_mut().find(same) {
                Some((.., group)) => group.push(one),
                None => groups.push((one.rule.id, one.severity, vec![one])),
            }
        }
        // Highest severity first; the sort is stable.
        groups.sort_by_key(|(_, severity, _)| std::cmp::Reverse(*severity));
        for (rule, severity, group) in groups {
            self.group(rule, severity, &group);
        }
        self.line("");
    }

    fn group(&mut self, rule: &str, severity: Severity, group: &[&CheckFinding]) {
        let label = format!("  {}[{rule}]", self.palette.severity(severity));
        let shown = if self.shows_all { group.len() } else { MAX_SHOWN_PER_RULE };
        let mut heads = Vec::new();
        for one in group.iter().take(shown) {
            heads.push(place(one));
            // A note with the same wording as an earlier one is merged into one line.
            let is_new = self.printed.insert(wording(&one.message)) || severity > Severity::Note;
            if !is_new {
                continue;
            }
            self.line(&format!("{label}{}", join(&heads)));
            heads.clear();
            self.line(&format!("      {}", printable(&one.message, MAX_MESSAGE_CHARS)));
            if self.printed.insert(one.fix.clone()) || severity == Severity::Error {
                self.line(&format!("      fix: {}", printable(&one.fix, MAX_MESSAGE_CHARS)));
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
            let title = self.palette.bold("Probes");
            self.line(&title);
            let mut rows = vec![["probe", "tool", "grade", "ms", "answer"].map(str::to_owned)];
            rows.extend(report.probes.iter().map(probe_row));
            self.rows(&rows);
            self.line("");
        }
        if !report.network.is_empty() {
            let tools = report.network.iter().map(|tool| printable(tool, MAX_NAME_CHARS));
            let tools = tools.collect::<Vec<_>>().join(", ");
            self.line(&format!(
                "Called with made-up arguments, may have reached the network: {tools}"
            ));
            self.line("");
        }
        if report.skipped.is_empty() {
            return;
        }
        let title = self.palette.bold("Tools not probed");
        self.line(&title);
        let mut reasons: Vec<&str> = Vec::new();
        for skipped in &report.skipped {
            if !reasons.contains(&skipped.reason.as_str()) {
                reasons.push(&skipped.reason);
            }
        }
        for reason in reasons {
            let tools: Vec<String> = report
                .skipped
                .iter()
                .filter(|skipped| skipped.reason == reason)
                .map(|skipped| printable(&skipped.tool, MAX_NAME_CHARS))
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
            known => format!(" ({known} in the baseline)"),
        };
        self.line(&format!("{}: {found}{known}", count(tools, "tool")));
        if let Some(worst) = worst(report) {
            let rule = worst.rule.id;
            self.line("");
            self.line(&format!(
                "hint: `stickler explain {rule}` shows what it means and how to fix it"
            ));
        }
    }
}

/// Returns the position of a finding.
fn place(found: &CheckFinding) -> String {
    // The message already describes the probe.
    let path = if found.path.starts_with("/probes/") { "" } else { &found.path };
    let mut place = printable(path, MAX_MESSAGE_CHARS);
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

/// Returns a message without the quoted names in it.
fn wording(message: &str) -> String {
    message.split('`').step_by(2).collect()
}

fn probe_row(probe: &ProbeResult) -> [String; 5] {
    [
        probe.name.to_owned(),
        probe
            .tool
            .as_deref()
            .map_or_else(|| "-".to_owned(), |tool| printable(tool, MAX_NAME_CHARS)),
        probe.grade.as_str().to_owned(),
        probe.millis.to_string(),
        printable(&probe.answer, 72),
    ]
}

/// Returns the first finding of the highest severity above note.
fn worst(report: &Report) -> Option<&CheckFinding> {
    let Counts { errors, warnings, .. } = report.counts();
    let severity = match (errors, warnings) {
        (0, 0) => return None,
        (0, _) => Severity::Warning,
        _ => Severity::Error,
    };
    report.findings.iter().find(|found| found.severity == severity)
}
