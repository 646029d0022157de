//! Prints the outcome of a call as text or JSON.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value, json};
use stickler_rmcp::{Code, Error, McpClient, ToolCallResult};

use super::super::validate::call::{CheckedInput, check_parts};
use super::super::validate::diagnostic;
use super::super::validate::record::Record;
use crate::cli::Format;
use crate::exit::Failure;
use crate::style;

/// A call and the client that made it.
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

    /// Validates the call again to obtain the details of its rejection.
    fn checked(&self, error: &Error) -> Option<CheckedInput> {
        let is_rejection = matches!(error.code(), Code::InvalidArguments | Code::UnknownTool);
        let validator = self.client.validator().filter(|_| is_rejection)?;
        Some(check_parts(validator, self.tool, Some(&self.arguments.to_string())))
    }

    fn print_error(&self, error: &Error) -> Result<(), Failure> {
        if let (Some(checked), Some(validator)) = (self.checked(error), self.client.validator()) {
            return diagnostic::print(&mut std::io::stdout().lock(), validator, None, &checked);
        }
        style::print_message("error", &for_terminal(&error.to_string()));
        Ok(())
    }

    fn print_json(&self, outcome: &Result<ToolCallResult, Error>) -> Result<(), Failure> {
        let error = outcome.as_ref().err();
        let result = outcome.as_ref().ok();
        let checked = error.and_then(|error| self.checked(error));
        let validation =
            checked.as_ref().zip(self.client.validator()).map(|(checked, validator)| {
                serde_json::to_value(Record::new(validator, 1, checked)).unwrap_or_default()
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

/// Prints text content unchanged and a summary of other content.
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

/// Summarises a content block that is not text.
fn summary(piece: &Value) -> String {
    let text = |name: &str| piece.get(name).and_then(Value::as_str);
    let resource = piece.get("resource").unwrap_or(piece);
    let uri = resource.get("uri").and_then(Value::as_str);
    let parts = [text("type"), text("mimeType"), uri].into_iter().flatten();
    let parts = parts.collect::<Vec<_>>().join(" ");
    let size = text("data").map_or_else(String::new, |data| format!(", {} characters", data.len()));
    for_terminal(&format!("[{parts}{size}]"))
}

/// Escapes untrusted text for a terminal; output to a pipe is unchanged.
fn for_terminal(text: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| style::printable(line, usize::MAX));
    lines.collect::<Vec<_>>().join("\n")
}
