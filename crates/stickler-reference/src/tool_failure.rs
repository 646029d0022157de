//! The reason why a call fails, with a message that its caller can act on.

use std::fmt;
use std::io;

use rmcp::model::{CallToolResult, ContentBlock};

/// The validation level that detects the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The arguments are inconsistent.
    Semantic,
    /// The current state of the workspace does not permit the call.
    Runtime,
    /// The call is not allowed.
    Security,
}

/// Why a call fails and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolFailure {
    pub(crate) level: Level,
    pub(crate) message: String,
    /// Names that were probably meant.
    pub(crate) suggestions: Vec<String>,
}

impl ToolFailure {
    fn new(level: Level, message: impl Into<String>) -> Self {
        Self { level, message: message.into(), suggestions: Vec::new() }
    }

    /// Adds names that were probably meant.
    pub(crate) fn suggesting(mut self, names: &[String]) -> Self {
        self.suggestions.extend_from_slice(names);
        self
    }

    pub(crate) fn semantic(message: impl Into<String>) -> Self {
        Self::new(Level::Semantic, message)
    }

    pub(crate) fn runtime(message: impl Into<String>) -> Self {
        Self::new(Level::Runtime, message)
    }

    pub(crate) fn security(message: impl Into<String>) -> Self {
        Self::new(Level::Security, message)
    }

    /// Converts an I/O error for a file.
    pub(crate) fn file(path: &str, error: &io::Error) -> Self {
        if is_escape(error) {
            return Self::outside(path);
        }
        Self::runtime(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("`{path}` does not exist; list the folder to find the correct name")
            }
            io::ErrorKind::IsADirectory => format!("`{path}` is a folder, not a file"),
            io::ErrorKind::NotADirectory => format!("a part of `{path}` is a file, not a folder"),
            io::ErrorKind::DirectoryNotEmpty => format!("the folder `{path}` is not empty"),
            _ => format!("`{path}`: {error}"),
        })
    }

    pub(crate) fn outside(path: &str) -> Self {
        Self::security(format!(
            "`{path}` is outside the root; use a path within it such as `src/main.rs`"
        ))
    }
}

/// Returns whether `cap-std` rejected a path that leaves the root. Its errors have no OS error
/// code, unlike those of the operating system.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ToolFailure> for CallToolResult {
    fn from(failure: ToolFailure) -> Self {
        Self::error(vec![ContentBlock::text(failure.message)])
    }
}
