//! JSON that is stored as text and parsed on demand.
//!
//! A parsed schema takes several times the memory of its text, and most of the tools that a server
//! lists are never called.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::LIST_DEPTH;
use crate::tape::{Node, TapeBuffer};

/// A JSON value as text. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonText(Arc<str>);

impl JsonText {
    pub(crate) fn of(node: Node<'_>) -> Self {
        Self(node.raw().into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the value.
    pub fn to_value(&self) -> Value {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(self.0.as_bytes(), LIST_DEPTH);
        tape.map(|tape| tape.root().to_value()).unwrap_or_default()
    }

    /// Passes the value as a tape node, without building a tree.
    pub(super) fn read<T>(&self, look: impl FnOnce(Node<'_>) -> T) -> Option<T> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(self.0.as_bytes(), LIST_DEPTH).ok()?;
        Some(look(tape.root()))
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
