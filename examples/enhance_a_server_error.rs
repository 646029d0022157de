//! Adds schema information to an error that the server returned.

use serde_json::json;
use stickler::{ErrorEnhancer, McpValidator, ToolDefinition, ValidationConfig};

#[allow(clippy::print_stdout)]
fn main() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("generate").with_input_schema(json!({
        "type": "object",
        "properties": { "entity": { "type": "string" }, "locale": { "type": "string" } },
        "required": ["entity"]
    }));
    validator.cache().populate("content", &[tool]);

    let reply = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"failed to deserialize parameters: missing field `entity`"}],"isError":true}}"#;
    let enhanced = ErrorEnhancer::of(&validator).enhance_reply("content", "generate", reply);
    println!("{}", String::from_utf8_lossy(&enhanced));
}
