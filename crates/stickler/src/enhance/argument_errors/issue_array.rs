//! Finds the JSON array of issues that some validators include in their error text.
//!
//! Example: `Invalid tools/call request: [{"code":"invalid_type", …}]`, or the array alone.

use super::prefix::ErrorMessage;
use serde_json::Value;

/// Returns the first array in the message that consists of objects for which `is_issue` is true.
pub(super) fn find(message: &ErrorMessage<'_>, is_issue: fn(&Value) -> bool) -> Option<Vec<Value>> {
    let candidates = message.body.match_indices('[').filter_map(|(at, _)| {
        let (before, from) = message.body.split_at_checked(at)?;
        starts_with_object(from).then_some((before, from))
    });
    candidates
        .take(MAX_CANDIDATES)
        .filter_map(|(before, from)| Some((before, array_at_start(from)?)))
        .find(|(_, issues)| !issues.is_empty() && issues.iter().all(is_issue))
        .filter(|(before, _)| message.is_about_the_call() || introduces_a_call(before))
        .map(|(_, issues)| issues)
}

/// Maximum number of arrays that are parsed. Each attempt may parse the rest of the text.
const MAX_CANDIDATES: usize = 8;

fn starts_with_object(from: &str) -> bool {
    from.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

fn array_at_start(from: &str) -> Option<Vec<Value>> {
    let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
    match values.next()? {
        Ok(Value::Array(issues)) => Some(issues),
        _ => None,
    }
}

/// Whether the text before the array shows that it is about a call. Servers print the same array if
/// they cannot parse the response of another service or their configuration.
fn introduces_a_call(before: &str) -> bool {
    let before = before.trim().to_ascii_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|word| before.contains(word));
    before.is_empty()
        || contains_any(&["argument", "param", "input", "request", "tools/call"])
            && !contains_any(&[
                "output", "response", "result", "content", "config", "file", "upstream",
            ])
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::enhance::argument_errors::prefix::ErrorMessage;

    fn found(text: &str) -> usize {
        find(&ErrorMessage::read(text), |issue| issue.get("code").is_some())
            .map_or(0, |all| all.len())
    }

    #[test]
    fn array_after_a_text_about_a_call_is_found() {
        assert_eq!(found(r#"[{"code":"a"},{"code":"b"}]"#), 2);
        assert_eq!(found(r#"Bad input [see docs]: [ {"code":"a"} ] end"#), 1);
        assert_eq!(found(r#"MCP error -32602: Invalid arguments for tool f: [{"code":"a"}]"#), 1);
    }

    #[test]
    fn array_about_another_subject_is_ignored() {
        assert_eq!(found(r#"Upstream response was odd: [{"code":"a"}]"#), 0);
        assert_eq!(found(r#"Failed to load: [{"code":"a"}]"#), 0);
        assert_eq!(found(r#"[{"code":"a"},{"name":"b"}]"#), 0);
        assert_eq!(found("[]"), 0);
    }

    #[test]
    fn malformed_array_is_ignored() {
        assert_eq!(found(r#"[{"code":"a"}"#), 0);
        assert_eq!(found(&"[{\"a\":".repeat(5_000)), 0);
    }
}
