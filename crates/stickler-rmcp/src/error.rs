//! The error type of this crate.

use std::fmt;

use stickler::rules::Code;
use stickler::{McpError, McpToolError};

/// An error with the `[STK-1xx]` code that identifies it in the documentation and in logs.
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

    /// Returns the code of the error.
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// Returns the required fields that are missing from a rejected call.
    pub fn missing(&self) -> Vec<String> {
        match &*self.kind {
            McpError::Validation(rejection) => rejection.missing(),
            _ => Vec::new(),
        }
    }

    /// Returns the suggested names and values.
    pub fn suggestions(&self) -> Vec<String> {
        match &*self.kind {
            McpError::Validation(rejection) => rejection.suggestions(),
            McpError::UnknownTool(rejection) => rejection.suggestions.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the help prompt of a rejected call, for a model to correct the call.
    pub fn help(&self) -> Option<&str> {
        match &*self.kind {
            McpError::Validation(rejection) => Some(&rejection.help),
            McpError::UnknownTool(rejection) => Some(&rejection.help),
            _ => None,
        }
    }

    /// Returns the error with all details.
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
