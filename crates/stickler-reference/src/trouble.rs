//! Why a call cannot be done, in words that its caller can act on.

use std::fmt;
use std::io;

use rmcp::model::{CallToolResult, ContentBlock};

/// Which kind of check finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The arguments make no sense together.
    Semantic,
    /// The world is not so that it could succeed.
    Runtime,
    /// It is not allowed.
    Security,
}

/// A reason, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) level: Level,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn semantic(message: impl Into<String>) -> Self {
        Self { level: Level::Semantic, message: message.into() }
    }

    pub(crate) fn runtime(message: impl Into<String>) -> Self {
        Self { level: Level::Runtime, message: message.into() }
    }

    pub(crate) fn security(message: impl Into<String>) -> Self {
        Self { level: Level::Security, message: message.into() }
    }

    /// A field that this action cannot do without.
    pub(crate) fn needs(action: &str, field: &str) -> Self {
        Self::semantic(format!("`{field}` is missing: the action `{action}` needs it"))
    }

    /// What the system says about a file.
    pub(crate) fn file(path: &str, error: &io::Error) -> Self {
        if is_escape(error) {
            return Self::outside(path);
        }
        Self::runtime(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("there is no `{path}`; look what is there before you name it")
            }
            io::ErrorKind::IsADirectory => format!("`{path}` is a folder, not a file"),
            io::ErrorKind::NotADirectory => format!("a part of `{path}` is a file, not a folder"),
            io::ErrorKind::DirectoryNotEmpty => format!("the folder `{path}` is not empty"),
            _ => format!("`{path}`: {error}"),
        })
    }

    pub(crate) fn outside(path: &str) -> Self {
        Self::security(format!(
            "`{path}` leads outside the root; give a path within it, such as `src/main.rs`"
        ))
    }
}

/// The system's own refusals have a number; those of the guard that keeps us beneath the root have
/// none.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Trouble> for CallToolResult {
    fn from(trouble: Trouble) -> Self {
        Self::error(vec![ContentBlock::text(trouble.message)])
    }
}
