//! Layer 3, after the call: the server's own errors, with what the tool's schema adds to them.
//!
//! A server says ``missing field `entity` ``; what the caller needs is which fields there are. Only
//! errors that are recognised as being about the arguments are added to; everything else passes
//! unchanged, and the server's own words always come first.

mod addition;
mod complaint;
mod reply;

use std::borrow::Cow;

use crate::arguments::McpValidator;
use crate::config::ValidationConfig;
use crate::discovery::ToolSchemaCache;
use crate::error::{McpError, McpToolError};

/// Adds to a server's errors what its schemas know.
#[derive(Debug, Clone, Copy)]
pub struct ErrorEnhancer<'a> {
    cache: &'a ToolSchemaCache,
    config: &'a ValidationConfig,
}

impl<'a> ErrorEnhancer<'a> {
    /// An enhancer that knows what the cache knows.
    pub fn new(cache: &'a ToolSchemaCache, config: &'a ValidationConfig) -> Self {
        Self { cache, config }
    }

    /// An enhancer for the tools of a validator.
    pub fn of(validator: &'a McpValidator) -> Self {
        Self::new(validator.cache(), validator.config())
    }

    /// The same error, with what can be added to it. Errors that are not the server's own are not
    /// touched.
    pub fn enhance(&self, server: &str, tool: &str, error: McpError) -> McpError {
        match error {
            McpError::Tool(error) => McpError::Tool(McpToolError {
                reason: self.enhance_text(server, tool, &error.reason).into_owned(),
                tool: error.tool,
            }),
            other => other,
        }
    }

    /// The server's words, and below them what can be added.
    pub fn enhance_text<'t>(&self, server: &str, tool: &str, text: &'t str) -> Cow<'t, str> {
        match self.addition(server, tool, text) {
            Some(addition) => Cow::Owned(format!("{text}\n\n{addition}")),
            None => Cow::Borrowed(text),
        }
    }

    /// A server's reply to `tools/call`: a JSON-RPC error gets a longer message, a result with
    /// `isError` one more piece of text. Any other reply, and one that nothing can be added to, is
    /// returned as it came.
    pub fn enhance_reply<'r>(&self, server: &str, tool: &str, reply: &'r [u8]) -> Cow<'r, [u8]> {
        match reply::enhance(self, server, tool, reply) {
            Some(enhanced) => Cow::Owned(enhanced),
            None => Cow::Borrowed(reply),
        }
    }

    /// What can be added to the server's words about a call; `None` when they are not about its
    /// arguments.
    pub fn addition(&self, server: &str, tool: &str, text: &str) -> Option<String> {
        if !self.config.enhance_errors {
            return None;
        }
        let complaints = complaint::recognise(text);
        if complaints.is_empty() {
            return None;
        }
        addition::compose(self.cache, self.config, server, tool, &complaints)
    }
}
