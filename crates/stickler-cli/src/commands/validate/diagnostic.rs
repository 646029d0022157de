//! Renders a result as text: the arguments with labels at the problems, and suggestions.

use std::fmt;
use std::io::Write;

use miette::{Diagnostic, LabeledSpan, SourceCode};
use stickler::tape::TapeBuffer;
use stickler::{Code, McpValidator, ValidationError, ValidationErrorKind, ValidationResult};

use super::SERVER;
use super::call::CheckedInput;
use super::layout::Layout;
use crate::exit::Failure;
use crate::style::report_handler;

pub(in crate::commands) fn print(
    out: &mut impl Write,
    validator: &McpValidator,
    line: Option<usize>,
    checked: &CheckedInput,
) -> Result<(), Failure> {
    let place = line.map_or_else(String::new, |line| format!("line {line}: "));
    match checked {
        CheckedInput::NotACall { message, expected, .. } => {
            writeln!(out, "{place}{message}\n\nhint: expected {expected}\n")?;
        }
        CheckedInput::Call { tool, result, .. } if result.is_valid => {
            let note = match &result.unchecked {
                Some(_) => " (not validated: its schema cannot be used)",
                None if result.repaired => " after repair",
                None => "",
            };
            writeln!(out, "{place}`{tool}` is valid{note}")?;
        }
        CheckedInput::Call { tool, arguments, result } => {
            let page = CallDiagnostic::new(validator, &place, tool, arguments.as_deref(), result);
            let mut drawn = String::new();
            // Writing to a string cannot fail.
            let _ = report_handler().render_report(&mut drawn, &page);
            writeln!(out, "{drawn}")?;
        }
    }
    Ok(())
}

/// Diagnostic of a rejected call.
#[derive(Debug)]
struct CallDiagnostic {
    title: String,
    text: String,
    labels: Vec<LabeledSpan>,
    help: String,
}

impl CallDiagnostic {
    fn new(
        validator: &McpValidator,
        place: &str,
        tool: &str,
        arguments: Option<&str>,
        result: &ValidationResult,
    ) -> Self {
        let masked = validator.config().mask_values;
        let mut buffer = TapeBuffer::new();
        let written = arguments.unwrap_or("{}").as_bytes();
        let layout = buffer
            .read(written, usize::MAX)
            .map(|tape| Layout::of(tape.root(), masked))
            .unwrap_or_default();
        let labels = result.errors.iter().map(|error| label(&layout, error)).collect();
        Self {
            title: title(place, tool, result),
            labels,
            help: help(result, masked) + &tools(validator, result),
            text: layout.text,
        }
    }
}

/// Maximum number of tools that are listed for an unknown one.
const MAX_TOOLS: usize = 20;

/// Lists the tools if the call is to an unknown one.
fn tools(validator: &McpValidator, result: &ValidationResult) -> String {
    let is_unknown =
        |error: &ValidationError| matches!(error.kind, ValidationErrorKind::UnknownTool { .. });
    if !result.errors.iter().any(is_unknown) {
        return String::new();
    }
    let names = validator.cache().tool_names(SERVER);
    let shown: Vec<String> = names.iter().take(MAX_TOOLS).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MAX_TOOLS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("\nthe tools are {}{more}", shown.join(", "))
}

fn title(place: &str, tool: &str, result: &ValidationResult) -> String {
    let unknown = result
        .errors
        .iter()
        .find(|error| matches!(error.kind, ValidationErrorKind::UnknownTool { .. }));
    match (unknown, result.errors.len()) {
        (Some(error), _) => format!("{place}[{}] {}", Code::UnknownTool, error.message),
        (None, count) => {
            let problems =
                if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") };
            format!("{place}[{}] `{tool}`: {problems}", Code::InvalidArguments)
        }
    }
}

fn label(layout: &Layout, error: &ValidationError) -> LabeledSpan {
    let parent = error.path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let (span, text) = match &error.kind {
        ValidationErrorKind::UnknownField { .. } => {
            (layout.key_at(&error.path), "not a known field".to_owned())
        }
        ValidationErrorKind::MissingRequired { field } => {
            (layout.value_at(parent), format!("`{field}` ({}) is missing here", error.expected))
        }
        ValidationErrorKind::UnknownTool { .. } => (None, String::new()),
        ValidationErrorKind::TypeMismatch { expected, actual } => {
            (layout.value_at(&error.path), format!("{actual}, but must be {expected}"))
        }
        ValidationErrorKind::InvalidEnum { .. } => {
            (layout.value_at(&error.path), format!("must be {}", error.expected))
        }
        ValidationErrorKind::InvalidValue { reason } => {
            (layout.value_at(&error.path), reason.clone())
        }
        _ => (layout.value_at(&error.path), error.expected.clone()),
    };
    let span = span.unwrap_or(0..0);
    LabeledSpan::new((!text.is_empty()).then_some(text), span.start, span.len())
}

/// Returns the suggestions and the corrected call.
fn help(result: &ValidationResult, masked: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for error in &result.errors {
        // A suggestion for the tool name is part of the title.
        if let Some(best) = error.suggestions().first().filter(|_| !error.path.is_empty()) {
            lines.push(format!("did you mean `{best}` for {}?", error.path));
        }
    }
    match result.corrected.as_ref().filter(|_| !masked) {
        Some(call) => {
            lines.push(format!("corrected call ({}):", result.edits_in_words()));
            lines.push(format!("{} {}", call.name, call.arguments.get()));
        }
        None => lines.extend(
            result
                .errors
                .iter()
                .filter(|error| error.suggestions().is_empty())
                .map(|error| error.message.clone()),
        ),
    }
    if result.truncated {
        lines.push("there may be more problems: the limit for explanations was reached".to_owned());
    }
    lines.dedup();
    lines.join("\n")
}

impl fmt::Display for CallDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl std::error::Error for CallDiagnostic {}

impl Diagnostic for CallDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display + 'a>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().filter(|label| label.label().is_some()).cloned()))
    }
}
