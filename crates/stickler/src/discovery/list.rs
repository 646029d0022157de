//! Parses tool lists: a `tools/list` result, a JSON-RPC response, or an array of tools.

use std::fmt;

use super::ToolDefinition;
use crate::config::Limits;
use crate::tape::{Kind, Node, SyntaxError, TapeBuffer};

/// A parsed tool list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolList {
    /// The tools in list order.
    pub tools: Vec<ToolDefinition>,
    /// Number of entries without a valid `name`.
    pub nameless: usize,
}

/// Error of parsing a tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolListError {
    /// The text is not JSON.
    Syntax(SyntaxError),
    /// The JSON does not contain a list of tools.
    NoTools,
}

impl fmt::Display for ToolListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "not JSON: {error}"),
            Self::NoTools => f.write_str(
                "no tools in it: expected a `tools/list` result (`{\"tools\": […]}`), a JSON-RPC \
                 response with one, or an array of tools",
            ),
        }
    }
}

impl std::error::Error for ToolListError {}

/// Nesting limit of a list. It exceeds the limit for messages, so that only the schema that is too deep is
/// quarantined.
pub(crate) const LIST_DEPTH: usize = 1 << 20;

impl ToolList {
    /// Parses a `tools/list` result, a JSON-RPC response with one, or an array of tools.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, ToolListError> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(bytes, LIST_DEPTH).map_err(ToolListError::Syntax)?;
        let entries = Self::entries(tape.root()).ok_or(ToolListError::NoTools)?;
        Ok(Self::of(entries, limits))
    }

    /// Reads the tools from an array on a tape.
    pub fn of(entries: Node<'_>, limits: &Limits) -> Self {
        let mut list = Self::default();
        for entry in entries.elements() {
            match ToolDefinition::read(entry, limits) {
                Some(tool) => list.tools.push(tool),
                None => list.nameless += 1,
            }
        }
        list
    }

    /// Returns the array of tools in a parsed text.
    pub(crate) fn entries(root: Node<'_>) -> Option<Node<'_>> {
        let tools = || root.pointer("/result/tools").or_else(|| root.get("tools"));
        let entries = if root.kind() == Kind::Array { Some(root) } else { tools() };
        entries.filter(|node| node.kind() == Kind::Array)
    }
}
