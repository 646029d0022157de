//! What can go wrong with a tool call, with the code that documentation and logs know it by.

use std::fmt;

use crate::arguments::{ValidationError, ValidationErrorKind};
use crate::rules::Code;

/// A tool call that did not succeed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum McpError {
    /// The server answered with an error.
    Tool(McpToolError),
    /// The call was refused before it reached the server.
    Validation(McpValidationFailed),
    /// The tool's schema cannot be used.
    Schema(McpSchemaError),
    /// The server has no such tool.
    UnknownTool(UnknownToolError),
    /// Anything else, which nothing is added to.
    Other {
        /// The code it is known by.
        code: Code,
        /// What happened.
        message: String,
    },
}

impl McpError {
    /// The code it is known by.
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

/// The server's own error about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpToolError {
    /// The tool that was called.
    pub tool: String,
    /// What the server said, with what was added to it.
    pub reason: String,
}

impl fmt::Display for McpToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] tool `{}` failed: {}", Code::ToolFailed, self.tool, self.reason)
    }
}

impl std::error::Error for McpToolError {}

/// A call whose arguments the tool's schema refuses.
#[derive(Debug, Clone, PartialEq)]
pub struct McpValidationFailed {
    /// The tool that was to be called.
    pub tool: String,
    /// Everything that is wrong with the arguments.
    pub errors: Vec<ValidationError>,
}

impl McpValidationFailed {
    /// The required fields that are missing.
    pub fn missing(&self) -> Vec<String> {
        let fields = self.errors.iter().filter_map(|error| match &error.kind {
            ValidationErrorKind::MissingRequired { field } => Some(field.clone()),
            _ => None,
        });
        fields.collect()
    }

    /// The names and values that were probably meant.
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
        Ok(())
    }
}

impl std::error::Error for McpValidationFailed {}

/// A tool whose schema cannot be used; the tool is in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSchemaError {
    /// The tool.
    pub tool: String,
    /// Why its schema cannot be used.
    pub reason: String,
}

impl fmt::Display for McpSchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = Code::UnusableSchema;
        write!(f, "[{code}] the schema of tool `{}` cannot be used: {}", self.tool, self.reason)
    }
}

impl std::error::Error for McpSchemaError {}

/// A call of a tool that the server does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownToolError {
    /// The name that was called.
    pub name: String,
    /// The names that were probably meant, best first.
    pub suggestions: Vec<String>,
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
