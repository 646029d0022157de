//! Tool lists, freed of what rmcp cannot read.
//!
//! One malformed tool makes rmcp lose the whole list. Its entry is put where rmcp keeps it without
//! looking at it, in the `_meta` of the result.

use std::borrow::Cow;

use rmcp::model::Tool;
use serde_json::{Value, json};

/// The member of `_meta` that holds the entries.
pub(super) const MALFORMED: &str = "dev.stickler/malformed_tools";

/// A message of the server's, as rmcp is to see it.
pub(super) fn sieve(message: &[u8]) -> Cow<'_, [u8]> {
    match sieved(message) {
        Some(changed) => Cow::Owned(changed),
        None => Cow::Borrowed(message),
    }
}

fn sieved(message: &[u8]) -> Option<Vec<u8>> {
    // Few messages are lists of tools; only those are looked into.
    let mentions = |text: &[u8]| message.windows(text.len()).any(|window| window == text);
    if !mentions(b"\"tools\"") || !mentions(b"\"result\"") {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?;
    let tools = result.get_mut("tools")?.as_array_mut()?;
    let is_sound = |tool: &Value| serde_json::from_value::<Tool>(tool.clone()).is_ok();
    let (sound, malformed): (Vec<Value>, Vec<Value>) = tools.drain(..).partition(is_sound);
    if malformed.is_empty() {
        return None;
    }
    *tools = sound;
    let meta = result.as_object_mut()?.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?.insert(MALFORMED.to_owned(), malformed.into());
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests are blunt")]

    use super::{MALFORMED, sieve};
    use serde_json::{Value, json};
    use std::borrow::Cow;

    #[test]
    fn a_malformed_tool_is_put_aside() {
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let bad = json!({ "name": "bad", "inputSchema": 5 });
        let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [good, bad] } });
        let seen: Value = serde_json::from_slice(&sieve(list.to_string().as_bytes())).unwrap();
        assert_eq!(seen["result"]["tools"], json!([good]));
        assert_eq!(seen["result"]["_meta"][MALFORMED], json!([bad]));
    }

    #[test]
    fn anything_else_is_left_as_it_is() {
        for text in [
            r#"{"result":{"tools":[{"name":"good","inputSchema":{}}]}}"#,
            r#"{"result":{"tools":5}}"#,
            r#"{"result":"tools","#,
        ] {
            assert!(matches!(sieve(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
    }
}
