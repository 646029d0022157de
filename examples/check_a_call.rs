//! Checks a call against a tool's schema and prints the errors and the corrected call.

use serde_json::json;
use stickler::{McpValidator, ToolDefinition, ValidationConfig};

#[allow(clippy::print_stdout)]
fn main() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("write_file").with_input_schema(json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "content": { "type": "string" } },
        "required": ["path", "content"]
    }));
    validator.cache().populate("files", &[tool]);

    let arguments = json!({ "pth": "a.txt", "content": "hi" });
    let result = validator.validate("files", "write_file", &arguments);
    for error in &result.errors {
        println!("{} at {}: {}", error.kind.name(), error.path, error.message);
    }
    if let Some(call) = result.corrected {
        println!("corrected: {} {}", call.name, call.arguments);
    }
}
