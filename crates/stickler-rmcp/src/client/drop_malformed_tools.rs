//! Moves malformed tools out of a tool list, because one of them makes rmcp reject the whole list.
//!
//! The malformed entries are kept in the `_meta` of the result, which rmcp does not interpret. All
//! other messages are returned unchanged.

use std::borrow::Cow;

use rmcp::model::Tool;
use serde_json::{Value, json};

/// The member of `_meta` that holds the malformed entries.
pub(super) const MALFORMED: &str = "dev.stickler/malformed_tools";

/// Returns a message of the server without malformed tools in `result.tools`.
pub(super) fn drop_malformed_tools(message: &[u8]) -> Cow<'_, [u8]> {
    match without_malformed_tools(message) {
        Some(changed) => Cow::Owned(changed),
        None => Cow::Borrowed(message),
    }
}

fn without_malformed_tools(message: &[u8]) -> Option<Vec<u8>> {
    // Cheap check: only tool lists are parsed.
    let contains = |text: &[u8]| message.windows(text.len()).any(|window| window == text);
    if !contains(b"\"tools\"") || !contains(b"\"result\"") {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?;
    let tools = result.get_mut("tools")?.as_array_mut()?;
    let is_readable = |tool: &Value| serde_json::from_value::<Tool>(tool.clone()).is_ok();
    let (readable, malformed): (Vec<Value>, Vec<Value>) = tools.drain(..).partition(is_readable);
    if malformed.is_empty() {
        return None;
    }
    *tools = readable;
    let meta = result.as_object_mut()?.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?.insert(MALFORMED.to_owned(), malformed.into());
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic fails the test")]

    use super::{MALFORMED, drop_malformed_tools};
    use serde_json::{Value, json};
    use std::borrow::Cow;

    #[test]
    fn malformed_tool_is_moved_to_meta() {
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let bad = json!({ "name": "bad", "inputSchema": 5 });
        let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [good, bad] } });
        let seen: Value =
            serde_json::from_slice(&drop_malformed_tools(list.to_string().as_bytes())).unwrap();
        assert_eq!(seen["result"]["tools"], json!([good]));
        assert_eq!(seen["result"]["_meta"][MALFORMED], json!([bad]));
    }

    #[test]
    fn other_messages_are_unchanged() {
        for text in [
            r#"{"result":{"tools":[{"name":"good","inputSchema":{}}]}}"#,
            r#"{"result":{"tools":5}}"#,
            r#"{"result":"tools","#,
        ] {
            assert!(matches!(drop_malformed_tools(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
    }
}
