//! No error of a server makes Stickler panic; what the server said stays, and nothing is extended twice.
//!
//! Input: a tool list up to a zero byte, then the text of an error or a response.
#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use stickler::{ErrorEnhancer, McpValidator, ToolList, ValidationConfig};

const TOOLS: &[u8] = br#"[{"name":"t","inputSchema":{"type":"object","properties":{
    "path":{"type":"string","description":"a file"},"limit":{"type":"integer","minimum":1},
    "mode":{"enum":["read","write"]},"filter":{"type":"object","properties":{"from":{"type":"string"}}},
    "tags":{"type":"array","items":{"type":"string"}}},"required":["path","mode"]}}]"#;

fn check_reply(enhancer: &ErrorEnhancer<'_>, tool: &str, reply: &[u8]) {
    let Cow::Owned(extended) = enhancer.enhance_reply("s", tool, reply) else { return };
    let parsed: Value = serde_json::from_slice(&extended).expect("an extended response is JSON");
    assert!(parsed.is_object());
    let again = enhancer.enhance_reply("s", tool, &extended);
    assert!(matches!(again, Cow::Borrowed(_)), "extended twice");
}

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (Some(list), Some(error)) = (parts.next(), parts.next()) else { return };
    let config = ValidationConfig::default();
    let validator = McpValidator::new(config.clone());
    let list = if list.is_empty() { TOOLS } else { list };
    let Ok(list) = ToolList::read(list, &config.limits) else { return };
    validator.cache().populate("s", &list.tools);
    let enhancer = ErrorEnhancer::of(&validator);
    let text = String::from_utf8_lossy(error);
    for tool in list.tools.iter().take(2).map(|tool| tool.name.as_str()).chain(["other"]) {
        assert!(enhancer.enhance_text("s", tool, &text).starts_with(text.as_ref()));
        check_reply(&enhancer, tool, error);
        let failed = json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "isError": true, "content": [{ "type": "text", "text": text }] } });
        check_reply(&enhancer, tool, failed.to_string().as_bytes());
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": text } });
        check_reply(&enhancer, tool, answer.to_string().as_bytes());
    }
});
