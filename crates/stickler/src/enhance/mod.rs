//! Layer 3, after the call: extends the errors of a server with details from the tool's schema.
//!
//! A server reports ``missing field `entity` ``; the caller also needs the list of valid fields.
//! Only errors that are recognised as argument errors are extended. All other errors are returned
//! unchanged, and the text of the server always comes first.

mod addition;
mod argument_errors;
mod reply;

use std::borrow::Cow;

use serde_json::Value;

use crate::arguments::McpValidator;
use crate::config::ValidationConfig;
use crate::discovery::ToolSchemaCache;
use crate::error::{McpError, McpToolError};
use crate::render::VALIDATION_KEY;

/// The member of a result's `_meta`, or of an error's `data`, that marks an extended response. Such a
/// response is not extended again, by whichever Stickler it passes next.
pub const ENHANCED_KEY: &str = "dev.stickler/enhanced";

/// Returns whether the `_meta` of a result, or the `data` of an error, marks a response that Stickler extended or
/// wrote.
pub fn is_enhanced(marks: &Value) -> bool {
    marks.get(ENHANCED_KEY).is_some() || marks.get(VALIDATION_KEY).is_some()
}

/// Extends the errors of a server with details from the schemas of its tools.
#[derive(Debug, Clone, Copy)]
pub struct ErrorEnhancer<'a> {
    cache: &'a ToolSchemaCache,
    config: &'a ValidationConfig,
}

impl<'a> ErrorEnhancer<'a> {
    /// Creates an enhancer that uses the schemas in the cache.
    pub fn new(cache: &'a ToolSchemaCache, config: &'a ValidationConfig) -> Self {
        Self { cache, config }
    }

    /// Creates an enhancer that uses the cache and configuration of a validator.
    pub fn of(validator: &'a McpValidator) -> Self {
        Self::new(validator.cache(), validator.config())
    }

    /// Extends the text of an error that the server returned. Other errors are returned unchanged.
    pub fn enhance(&self, server: &str, tool: &str, error: McpError) -> McpError {
        match error {
            McpError::Tool(error) => McpError::Tool(McpToolError {
                reason: self.enhance_text(server, tool, &error.reason).into_owned(),
                tool: error.tool,
            }),
            other => other,
        }
    }

    /// Returns the text of the server, followed by the addition if there is one.
    pub fn enhance_text<'t>(&self, server: &str, tool: &str, text: &'t str) -> Cow<'t, str> {
        match self.addition(server, tool, text) {
            Some(addition) => Cow::Owned(format!("{text}\n\n{addition}")),
            None => Cow::Borrowed(text),
        }
    }

    /// Extends a response to `tools/call`: the message of a JSON-RPC error, or the content of a
    /// result with `isError`. Any other response is returned unchanged.
    pub fn enhance_reply<'r>(&self, server: &str, tool: &str, reply: &'r [u8]) -> Cow<'r, [u8]> {
        match reply::enhance(self, server, tool, reply) {
            Some(enhanced) => Cow::Owned(enhanced),
            None => Cow::Borrowed(reply),
        }
    }

    /// Returns the addition to the error text of a call; `None` if the text is not about the
    /// arguments.
    pub fn addition(&self, server: &str, tool: &str, text: &str) -> Option<String> {
        if !self.config.enhance_errors {
            return None;
        }
        addition::compose(self.cache, self.config, server, tool, text)
    }
}
