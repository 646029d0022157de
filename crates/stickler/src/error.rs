//! Errors of tool calls, each with its documented code.

use std::fmt;

use crate::arguments::{ValidationError, ValidationErrorKind};
use crate::rules::Code;

/// A tool call that did not succeed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum McpError {
    /// The server answered with an error.
    Tool(McpToolError),
    /// The call was rejected before it reached the server.
    Validation(McpValidationFailed),
    /// The tool's schema cannot be used.
    Schema(McpSchemaError),
    /// The server does not have the tool.
    UnknownTool(UnknownToolError),
    /// Any other error; it is not enhanced.
    Other {
        /// The code of the error.
        code: Code,
        /// The description of the error.
        message: String,
    },
}

impl McpError {
    /// Returns the code of the error.
    pub fn code(&self) -> Code {
        match self {
            Self::Tool(_) => Code::ToolFailed,
            Self::Validation(_) => Code::InvalidArguments,
            Self::Schema(_) => Code::UnusableSchema,
            Self::UnknownTool(_) => Code::UnknownTool,
            Self::Other { code, .. } => *code,
        }
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(error) => error.fmt(f),
            Self::Validation(error) => error.fmt(f),
            Self::Schema(error) => error.fmt(f),
            Self::UnknownTool(error) => error.fmt(f),
            Self::Other { code, message } => write!(f, "[{code}] {message}"),
        }
    }
}

impl std::error::Error for McpError {}

/// An error that the server returned for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpToolError {
    /// The tool that was called.
    pub tool: String,
    /// The server's error text, including added help.
    pub reason: String,
}

impl fmt::Display for McpToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] tool `{}` failed: {}", Code::ToolFailed, self.tool, self.reason)
    }
}

impl std::error::Error for McpToolError {}

/// A call with arguments that the tool's schema rejects.
#[derive(Debug, Clone, PartialEq)]
pub struct McpValidationFailed {
    /// The called tool.
    pub tool: String,
    /// The problems with the arguments.
    pub errors: Vec<ValidationError>,
    /// The fields that the tool requires.
    pub required: Vec<String>,
    /// The fields that the tool has, in the order of its schema.
    pub available: Vec<String>,
    /// The help prompt.
    pub help: String,
}

impl McpValidationFailed {
    /// Returns the problems as one text.
    pub fn details(&self) -> String {
        let messages: Vec<&str> = self.errors.iter().map(|error| error.message.as_str()).collect();
        messages.join("; ")
    }

    /// Returns the required fields that are missing, including those that were sent under another name.
    pub fn missing(&self) -> Vec<String> {
        let fields = self.errors.iter().filter_map(|error| match &error.kind {
            ValidationErrorKind::MissingRequired { field } => Some(field.clone()),
            _ => error.fills.clone(),
        });
        fields.collect()
    }

    /// Returns the names and values that were probably meant.
    pub fn suggestions(&self) -> Vec<String> {
        self.errors.iter().flat_map(|error| error.suggestions().iter().cloned()).collect()
    }
}

impl fmt::Display for McpValidationFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = Code::InvalidArguments;
        write!(f, "[{code}] parameter validation failed for `{}`:", self.tool)?;
        for error in &self.errors {
            write!(f, "\n  {}", error.message)?;
        }
        write!(f, "\n  Required fields: [{}].", listed(&self.required))?;
        write!(f, "\n  Available fields: [{}].", listed(&self.available))
    }
}

impl std::error::Error for McpValidationFailed {}

/// A tool with a schema that cannot be used; calls to the tool are not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSchemaError {
    /// The tool.
    pub tool: String,
    /// Why the schema cannot be used.
    pub reason: String,
}

impl fmt::Display for McpSchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = Code::UnusableSchema;
        write!(f, "[{code}] the schema of tool `{}` cannot be used: {}", self.tool, self.reason)
    }
}

impl std::error::Error for McpSchemaError {}

/// A call to a tool that the server does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownToolError {
    /// The name in the call.
    pub name: String,
    /// The names that were probably meant, best first.
    pub suggestions: Vec<String>,
    /// The help prompt with the available tools.
    pub help: String,
}

impl fmt::Display for UnknownToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] Unknown tool: {}", Code::UnknownTool, self.name)?;
        match self.suggestions.first() {
            Some(best) => write!(f, ". Did you mean `{best}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownToolError {}

/// Maximum number of names in a list.
const MAX_LISTED_NAMES: usize = 40;

/// Lists names, separated by commas; a long list is cut.
pub(crate) fn listed(names: &[String]) -> String {
    let more = if names.len() > MAX_LISTED_NAMES { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MAX_LISTED_NAMES)].join(", "))
}
