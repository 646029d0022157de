//! The one error type of this crate.

use std::fmt;

use stickler::rules::Code;
use stickler::{McpError, McpToolError};

/// What went wrong, with the `[STK-1xx]` code that documentation and logs know it by.
///
/// ```
/// use stickler_rmcp::{Code, McpClient, McpConfig};
///
/// # async fn run() {
/// let client = McpClient::new(McpConfig::new("files", "some-server")).unwrap();
/// let error = client.call_tool("read", serde_json::json!({})).await.unwrap_err();
/// assert_eq!(error.code(), Code::NotConnected);
/// assert!(error.to_string().starts_with("[STK-100]"));
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    kind: Box<McpError>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        McpError::Other { code, message: message.into() }.into()
    }

    pub(crate) fn tool(tool: &str, reason: impl Into<String>) -> Self {
        McpError::Tool(McpToolError { tool: tool.to_owned(), reason: reason.into() }).into()
    }

    /// The code it is known by.
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// The required fields that a refused call lacks.
    pub fn missing(&self) -> Vec<String> {
        match &*self.kind {
            McpError::Validation(refusal) => refusal.missing(),
            _ => Vec::new(),
        }
    }

    /// The names and values that were probably meant.
    pub fn suggestions(&self) -> Vec<String> {
        match &*self.kind {
            McpError::Validation(refusal) => refusal.suggestions(),
            McpError::UnknownTool(refusal) => refusal.suggestions.clone(),
            _ => Vec::new(),
        }
    }

    /// Everything there is to know about it.
    pub fn kind(&self) -> &McpError {
        &self.kind
    }
}

impl From<McpError> for Error {
    fn from(kind: McpError) -> Self {
        Self { kind: Box::new(kind) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {}
