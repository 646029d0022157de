//! Texts that say there is no tool of the called name.
//!
//! `Unknown tool: x`, `Tool x not found`, `tool 'x' not found: tool not found`,
//! `Tool not found: x`.

use super::lead_in::{Message, Scope};
use super::tokens::{after, ends_sentence, name};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    // A text about the arguments knows its tool; the arguments may speak of others.
    if message.scope == Scope::Arguments && !message.is_one_line() {
        return Vec::new();
    }
    let sentence = message.body.lines().next().unwrap_or_default();
    let found = name_last(sentence).or_else(|| name_within(sentence));
    found.map(|about| place::at(String::new(), about)).into_iter().collect()
}

/// `Unknown tool: x`, `Tool not found`.
fn name_last(sentence: &str) -> Option<About> {
    let openings =
        ["unknown tool", "tool not found", "no such tool", "no tool named", "invalid tool name"];
    let rest = openings.iter().find_map(|opening| after(sentence, opening))?;
    let called = rest.strip_prefix(':').unwrap_or(rest);
    if called.trim_matches([' ', '.']).is_empty() {
        return Some(About::UnknownTool { name: None });
    }
    let (called, rest) = name(called.strip_prefix(' ')?.trim_start())?;
    ends_sentence(rest).then(|| named(called))
}

/// `Tool x not found`.
fn name_within(sentence: &str) -> Option<About> {
    let sentence = after(sentence, "the ").unwrap_or(sentence);
    let (called, rest) = name(after(sentence, "tool ")?)?;
    let endings = [" not found", " was not found", " does not exist", " is not found"];
    let rest = endings.iter().find_map(|ending| after(rest, ending))?;
    ends_sentence(rest).then(|| named(called))
}

fn named(called: &str) -> About {
    About::UnknownTool { name: Some(called.to_owned()) }
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    #[test]
    fn the_name_is_found_wherever_it_stands() {
        for text in [
            "Unknown tool: get-x",
            "unknown tool \"get-x\"",
            "Tool get-x not found",
            "MCP error -32602: Tool get-x not found",
            "tool 'get-x' not found: tool not found",
            "Tool not found: get-x",
            "Unknown tool: get-x. Available tools: a, b",
        ] {
            let about = About::UnknownTool { name: Some("get-x".into()) };
            assert_eq!(recognise(text), [Complaint { about, path: String::new() }], "{text}");
        }
    }

    #[test]
    fn the_name_may_be_absent() {
        let about = About::UnknownTool { name: None };
        assert_eq!(recognise("Tool not found"), [Complaint { about, path: String::new() }]);
    }

    #[test]
    fn other_things_that_are_not_found_are_left() {
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
