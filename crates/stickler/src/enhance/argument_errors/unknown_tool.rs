//! Recognises texts about an unknown tool.
//!
//! `Unknown tool: x`, `Tool x not found`, `tool 'x' not found: tool not found`,
//! `Tool not found: x`.

use super::prefix::{ErrorMessage, Scope};
use super::tokens::{ends_sentence, strip_prefix_ignore_case, take_name};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    // If the text is about the arguments, the tool exists; the arguments may mention other tools.
    if message.scope == Scope::Arguments && !message.is_one_line() {
        return Vec::new();
    }
    let sentence = message.body.lines().next().unwrap_or_default();
    let found = name_last(sentence).or_else(|| name_within(sentence));
    found.map(|kind| field_path::argument_error(String::new(), kind)).into_iter().collect()
}

/// `Unknown tool: x`, `Tool not found`.
fn name_last(sentence: &str) -> Option<ErrorKind> {
    let openings =
        ["unknown tool", "tool not found", "no such tool", "no tool named", "invalid tool name"];
    let rest = openings.iter().find_map(|opening| strip_prefix_ignore_case(sentence, opening))?;
    let called = rest.strip_prefix(':').unwrap_or(rest);
    if called.trim_matches([' ', '.']).is_empty() {
        return Some(ErrorKind::UnknownTool { name: None });
    }
    let (called, rest) = take_name(called.strip_prefix(' ')?.trim_start())?;
    ends_sentence(rest).then(|| named(called))
}

/// `Tool x not found`.
fn name_within(sentence: &str) -> Option<ErrorKind> {
    let sentence = strip_prefix_ignore_case(sentence, "the ").unwrap_or(sentence);
    let (called, rest) = take_name(strip_prefix_ignore_case(sentence, "tool ")?)?;
    let endings = [" not found", " was not found", " does not exist", " is not found"];
    let rest = endings.iter().find_map(|ending| strip_prefix_ignore_case(rest, ending))?;
    ends_sentence(rest).then(|| named(called))
}

fn named(called: &str) -> ErrorKind {
    ErrorKind::UnknownTool { name: Some(called.to_owned()) }
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    #[test]
    fn tool_name_is_found_at_any_position() {
        for text in [
            "Unknown tool: get-x",
            "unknown tool \"get-x\"",
            "Tool get-x not found",
            "MCP error -32602: Tool get-x not found",
            "tool 'get-x' not found: tool not found",
            "Tool not found: get-x",
            "Unknown tool: get-x. Available tools: a, b",
        ] {
            let kind = ErrorKind::UnknownTool { name: Some("get-x".into()) };
            assert_eq!(recognise(text), [ArgumentError { kind, path: String::new() }], "{text}");
        }
    }

    #[test]
    fn tool_name_is_optional() {
        let kind = ErrorKind::UnknownTool { name: None };
        assert_eq!(recognise("Tool not found"), [ArgumentError { kind, path: String::new() }]);
    }

    #[test]
    fn texts_about_other_missing_things_are_ignored() {
        for text in [
            "Tool ffmpeg not found in PATH",
            "Unknown tool chain selected",
            "file 'tool' not found",
            "Toolbox x not found",
            "The user was not found",
            "I looked: tool x not found",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
