//! Finds the JSON array of issues that some validators print into their error text.
//!
//! `Invalid tools/call request: [{"code":"invalid_type", …}]` holds one; so does the bare array.

use super::lead_in::Message;
use serde_json::Value;

/// The first array of objects in the message of which `is_issue` holds throughout.
pub(super) fn find(message: &Message<'_>, is_issue: fn(&Value) -> bool) -> Option<Vec<Value>> {
    let candidates = message.body.match_indices('[').filter_map(|(at, _)| {
        let (before, from) = message.body.split_at_checked(at)?;
        holds_objects(from).then_some((before, from))
    });
    candidates
        .take(MOST_CANDIDATES)
        .filter_map(|(before, from)| Some((before, array_at_start(from)?)))
        .find(|(_, issues)| !issues.is_empty() && issues.iter().all(is_issue))
        .filter(|(before, _)| message.blames_the_call() || introduces_a_call(before))
        .map(|(_, issues)| issues)
}

/// Each candidate may cost a parse of all that follows it.
const MOST_CANDIDATES: usize = 8;

fn holds_objects(from: &str) -> bool {
    from.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

fn array_at_start(from: &str) -> Option<Vec<Value>> {
    let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
    match values.next()? {
        Ok(Value::Array(issues)) => Some(issues),
        _ => None,
    }
}

/// Whether the words before the array leave no doubt that it is about a call. The same array is
/// printed when a server cannot make sense of an upstream answer or of its own settings.
fn introduces_a_call(before: &str) -> bool {
    let before = before.trim().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| before.contains(word));
    before.is_empty()
        || says(&["argument", "param", "input", "request", "tools/call"])
            && !says(&["output", "response", "result", "content", "config", "file", "upstream"])
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::enhance::complaint::lead_in::Message;

    fn found(text: &str) -> usize {
        find(&Message::read(text), |issue| issue.get("code").is_some()).map_or(0, |all| all.len())
    }

    #[test]
    fn the_array_is_found_after_any_words_about_a_call() {
        assert_eq!(found(r#"[{"code":"a"},{"code":"b"}]"#), 2);
        assert_eq!(found(r#"Bad input [see docs]: [ {"code":"a"} ] end"#), 1);
        assert_eq!(found(r#"MCP error -32602: Invalid arguments for tool f: [{"code":"a"}]"#), 1);
    }

    #[test]
    fn an_array_about_something_else_is_left() {
        assert_eq!(found(r#"Upstream response was odd: [{"code":"a"}]"#), 0);
        assert_eq!(found(r#"Failed to load: [{"code":"a"}]"#), 0);
        assert_eq!(found(r#"[{"code":"a"},{"name":"b"}]"#), 0);
        assert_eq!(found("[]"), 0);
    }

    #[test]
    fn a_broken_array_is_left() {
        assert_eq!(found(r#"[{"code":"a"}"#), 0);
        assert_eq!(found(&"[{\"a\":".repeat(5_000)), 0);
    }
}
