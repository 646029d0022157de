//! The `toolValidation` capability: a server's promise to check calls without making them.
//!
//! A server announces it ([`ToolValidationCapability`]) and has a tool ([`validation_tool`]) that
//! takes one call or several ([`ValidationRequest`]) and says of each what is wrong with it
//! ([`ValidationReport`]).

mod capability;
mod report;
mod request;

pub use capability::{ToolValidationCapability, ValidationLevels};
pub use report::ValidationReport;
pub use request::{ValidationQuestion, ValidationRequest, ValidationRequestRefused};

use serde_json::json;

use crate::discovery::{CachedSchema, ToolDefinition};

/// The tool's name where the capability does not give another.
pub const DEFAULT_METHOD: &str = "validate";

/// The name of the capability among the extensions that modern servers announce.
pub const EXTENSION: &str = "dev.stickler/tool-validation";

/// The name of the capability among the experimental ones.
pub const EXPERIMENTAL: &str = "toolValidation";

/// Calls that one request may ask about.
pub const MAX_BATCH_SIZE: usize = 100;

/// What the tool says about itself.
pub const VALIDATION_TOOL_DESCRIPTION: &str = "Checks the arguments of a tool call without making \
    the call. Takes one call as `tool` and `arguments`, or several as `calls`.";

/// Whether a tool that is known is ours, and not one of the server's own with the same name.
pub fn is_validation_tool(tool: &CachedSchema) -> bool {
    tool.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION)
}

/// The tool that validates calls, under that name.
///
/// Its properties are plain and optional: some model APIs refuse a choice at the root.
///
/// ```
/// let tool = stickler::tool_validation::validation_tool("validate");
/// assert_eq!(tool.name, "validate");
/// ```
pub fn validation_tool(name: &str) -> ToolDefinition {
    let tool = json!({ "type": "string", "description": "The name of the tool" });
    let arguments = json!({ "description": "The arguments that the call would have" });
    ToolDefinition::new(name).with_description(VALIDATION_TOOL_DESCRIPTION).with_input_schema(
        json!({
            "type": "object",
            "properties": {
                "tool": tool,
                "arguments": arguments,
                "calls": {
                    "type": "array",
                    "maxItems": MAX_BATCH_SIZE,
                    "description": "Several calls at once, in place of `tool` and `arguments`",
                    "items": {
                        "type": "object",
                        "properties": { "tool": tool, "arguments": arguments },
                        "required": ["tool"],
                        "additionalProperties": false,
                    },
                },
            },
            "additionalProperties": false,
        }),
    )
}
