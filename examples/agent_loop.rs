//! An agent loop that feeds a rejection back to the model until the call is valid. The model here
//! is a stand-in that reads the help prompt and sends the corrected call.

use serde_json::{Value, json};
use stickler::{McpValidator, ToolDefinition, ValidationConfig};

#[allow(clippy::print_stdout)]
fn main() {
    let validator = McpValidator::new(ValidationConfig::default());
    let tool = ToolDefinition::new("search").with_input_schema(json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } },
        "required": ["query"]
    }));
    validator.cache().populate("web", &[tool]);

    let mut arguments = json!({ "qurey": "rust", "limit": "5" });
    for turn in 1.. {
        let result = validator.validate("web", "search", &arguments);
        if result.is_valid {
            println!("turn {turn}: search {arguments}");
            return;
        }
        let observation = validator.build_retry_observation("web", "search", &result, turn);
        println!("turn {turn}: rejected, {} problems", observation.errors().len());
        match read_help(observation.stdout()) {
            Some(corrected) => arguments = corrected,
            None => return println!("giving up:\n{}", observation.stdout()),
        }
    }
}

/// The arguments of the corrected call in a help prompt.
fn read_help(help: &str) -> Option<Value> {
    let (_, section) = help.split_once("## Corrected Call\n```json\n")?;
    let (call, _) = section.split_once("\n```")?;
    serde_json::from_str::<Value>(call).ok()?.get("arguments").cloned()
}
