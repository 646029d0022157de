//! The `toolValidation` capability, which lets clients validate calls without making them.
//!
//! A server announces the capability ([`ToolValidationCapability`]) and offers a tool
//! ([`validation_tool`]). The tool takes one or several calls ([`ValidationRequest`]) and returns a
//! report about each of them ([`ValidationReport`]).

mod answer_cache;
mod capability;
mod report;
mod request;

pub use answer_cache::AnswerCache;
pub use capability::{Invalidation, ToolValidationCapability, ValidationLevels};
pub use report::ValidationReport;
pub use request::{CallToValidate, ValidationRequest, ValidationRequestError};

use serde_json::json;

use crate::discovery::{CachedSchema, ToolDefinition};

/// Name of the tool if the capability does not specify one.
pub const DEFAULT_METHOD: &str = "validate";

/// Name of the capability among the extensions that servers announce since 2026-07-28.
pub const EXTENSION: &str = "dev.stickler/tool-validation";

/// Name of the capability among the experimental capabilities.
pub const EXPERIMENTAL: &str = "toolValidation";

/// Maximum number of calls per request.
pub const MAX_BATCH_SIZE: usize = 100;

/// Description of the validation tool.
pub const VALIDATION_TOOL_DESCRIPTION: &str = "Checks the arguments of a tool call without making \
    the call. Takes one call as `tool` and `arguments`, or several as `calls`.";

/// Whether a tool is the validation tool of Stickler, and not a tool of the server with the same
/// name.
pub fn is_validation_tool(tool: &CachedSchema) -> bool {
    tool.description.as_deref() == Some(VALIDATION_TOOL_DESCRIPTION)
}

/// Returns the definition of the validation tool with the given name.
///
/// All properties are optional, because some model APIs reject `oneOf` and `anyOf` at the root.
///
/// ```
/// let tool = stickler::tool_validation::validation_tool("validate");
/// assert_eq!(tool.name, "validate");
/// ```
pub fn validation_tool(name: &str) -> ToolDefinition {
    let tool = json!({ "type": "string", "description": "The name of the tool" });
    let arguments = json!({ "description": "The arguments of the call" });
    ToolDefinition::new(name).with_description(VALIDATION_TOOL_DESCRIPTION).with_input_schema(
        json!({
            "type": "object",
            "properties": {
                "tool": tool,
                "arguments": arguments,
                "calls": {
                    "type": "array",
                    "maxItems": MAX_BATCH_SIZE,
                    "description": "Several calls, instead of `tool` and `arguments`",
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
