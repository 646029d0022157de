//! The text of a client configuration file and how its syntax writes an added member.

use std::ops::Range;

use serde_json::Value as Json;

use super::entry::Member;
use crate::config::{Format, Value};

/// A text in one of the syntaxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) format: Format,
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str, format: Format) -> Self {
        Self { text, format }
    }

    pub(super) fn raw(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Returns what separates a member that is added after `member` from it, up to the value:
    /// `,\n  "args": ` in JSON.
    pub(super) fn separator(&self, entry: &Value, member: &Member<'_>, key: &str) -> String {
        let before = self.text.get(..member.key_span.start).unwrap_or_default();
        let is_inline = self.raw(&entry.span).starts_with('{');
        match self.format {
            Format::Json => format!(",{}\"{key}\": ", trailing_blanks(before)),
            Format::Toml if is_inline => format!(", {key} = "),
            Format::Yaml if is_inline => format!(", {key}: "),
            // The start of the line holds the indentation and the first segments of a dotted key.
            Format::Toml => format!("{}{}{key} = ", self.line_break(), line_start(before)),
            Format::Yaml => {
                let column = line_start(before).chars().count();
                format!("{}{}{key}: ", self.line_break(), " ".repeat(column))
            }
        }
    }

    /// Returns the line break that the file uses.
    pub(super) fn line_break(&self) -> &'static str {
        let first = self.text.find('\n').and_then(|at| self.text.get(..at));
        if first.is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" }
    }
}

/// Returns a string literal, which all three syntaxes write in the same way.
pub(super) fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn trailing_blanks(text: &str) -> &str {
    let rest = text.trim_end_matches(|c: char| c.is_ascii_whitespace());
    text.get(rest.len()..).unwrap_or_default()
}

pub(super) fn line_start(before: &str) -> &str {
    before.rsplit('\n').next().unwrap_or_default()
}
