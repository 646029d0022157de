//! What came of a call, for people and for programs.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value, json};
use stickler_rmcp::{Code, Error, McpClient, ToolCallResult};

use super::super::validate::call::{Judged, judge_parts};
use super::super::validate::diagnostic;
use super::super::validate::record::Record;
use crate::cli::Format;
use crate::exit::Failure;
use crate::style;

/// A call, and who was asked.
pub(super) struct Report<'r> {
    pub(super) client: &'r McpClient,
    pub(super) tool: &'r str,
    pub(super) arguments: &'r Value,
}

impl Report<'_> {
    pub(super) fn print(
        &self,
        format: Format,
        outcome: &Result<ToolCallResult, Error>,
    ) -> Result<(), Failure> {
        match (format, outcome) {
            (Format::Json, outcome) => self.print_json(outcome)?,
            (Format::Text, Ok(result)) => print_result(result)?,
            (Format::Text, Err(error)) => self.print_error(error)?,
        }
        Ok(())
    }

    /// The same verdict that refused the call.
    fn judged(&self, error: &Error) -> Option<Judged> {
        let is_refusal = matches!(error.code(), Code::InvalidArguments | Code::UnknownTool);
        let validator = self.client.validator().filter(|_| is_refusal)?;
        Some(judge_parts(validator, self.tool, Some(&self.arguments.to_string())))
    }

    fn print_error(&self, error: &Error) -> Result<(), Failure> {
        if let (Some(judged), Some(validator)) = (self.judged(error), self.client.validator()) {
            return diagnostic::print(&mut std::io::stdout().lock(), validator, None, &judged);
        }
        style::complain("error", &for_terminal(&error.to_string()));
        Ok(())
    }

    fn print_json(&self, outcome: &Result<ToolCallResult, Error>) -> Result<(), Failure> {
        let error = outcome.as_ref().err();
        let result = outcome.as_ref().ok();
        let judged = error.and_then(|error| self.judged(error));
        let validation = judged.as_ref().zip(self.client.validator()).map(|(judged, validator)| {
            serde_json::to_value(Record::new(validator, 1, judged)).unwrap_or_default()
        });
        let line = json!({
            "tool": self.tool,
            "ok": outcome.is_ok(),
            "error": error.map(|error| {
                json!({ "code": error.code().as_str(), "message": error.to_string() })
            }),
            "content": result.map(|result| &result.content),
            "structured_content": result.and_then(|result| result.structured_content.as_ref()),
            "validation": validation,
        });
        writeln!(std::io::stdout().lock(), "{line}")?;
        Ok(())
    }
}

/// Texts as they are; of anything else, what it is.
fn print_result(result: &ToolCallResult) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for piece in &result.content {
        match piece.get("text").and_then(Value::as_str) {
            Some(text) => writeln!(out, "{}", for_terminal(text))?,
            None => writeln!(out, "{}", summary(piece))?,
        }
    }
    match &result.structured_content {
        Some(structured) if result.content.is_empty() => writeln!(out, "{structured:#}"),
        _ => Ok(()),
    }
}

/// A piece that is no text.
fn summary(piece: &Value) -> String {
    let text = |name: &str| piece.get(name).and_then(Value::as_str);
    let resource = piece.get("resource").unwrap_or(piece);
    let uri = resource.get("uri").and_then(Value::as_str);
    let parts = [text("type"), text("mimeType"), uri].into_iter().flatten();
    let parts = parts.collect::<Vec<_>>().join(" ");
    let size = text("data").map_or_else(String::new, |data| format!(", {} characters", data.len()));
    for_terminal(&format!("[{parts}{size}]"))
}

/// A stranger's text must not drive the terminal; in a pipe it is left as it is.
fn for_terminal(text: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| style::printable(line, usize::MAX));
    lines.collect::<Vec<_>>().join("\n")
}
