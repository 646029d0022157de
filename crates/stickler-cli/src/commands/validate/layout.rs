//! Formats arguments as indented JSON and records the position of every key and value.

use std::collections::HashMap;
use std::ops::Range;

use stickler::tape::{Kind, Node, escape_segment};

/// Longer strings are truncated: the output shows where a problem is, not the whole value.
const MAX_STRING_CHARS: usize = 70;

/// Indented JSON text with positions by JSON Pointer.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) text: String,
    values: HashMap<String, Range<usize>>,
    keys: HashMap<String, Range<usize>>,
    masked: bool,
}

impl Layout {
    /// Formats a value. With `masked`, values are replaced by their types.
    pub(super) fn of(root: Node<'_>, masked: bool) -> Self {
        let mut layout = Self { masked, ..Self::default() };
        layout.value(root, "", 0);
        layout
    }

    pub(super) fn value_at(&self, pointer: &str) -> Option<Range<usize>> {
        self.values.get(pointer).cloned()
    }

    pub(super) fn key_at(&self, pointer: &str) -> Option<Range<usize>> {
        self.keys.get(pointer).cloned()
    }

    fn value(&mut self, node: Node<'_>, pointer: &str, depth: usize) {
        let start = self.text.len();
        match node.kind() {
            Kind::Object if !node.is_empty() => {
                self.text.push('{');
                let first = self.text.len();
                for (key, value) in node.members() {
                    self.begin_item(first, depth);
                    let inner = format!("{pointer}/{}", escape_segment(&key));
                    let quoted = serde_json::Value::from(key.as_ref()).to_string();
                    let span = self.append(&quoted);
                    self.keys.insert(inner.clone(), span);
                    self.text.push_str(": ");
                    self.value(value, &inner, depth + 1);
                }
                self.end_items(depth, '}');
            }
            Kind::Array if !node.is_empty() => {
                self.text.push('[');
                let first = self.text.len();
                for (index, element) in node.elements().enumerate() {
                    self.begin_item(first, depth);
                    self.value(element, &format!("{pointer}/{index}"), depth + 1);
                }
                self.end_items(depth, ']');
            }
            _ => self.scalar(node),
        }
        // The label of a container points at its opening bracket.
        let is_container = matches!(node.kind(), Kind::Object | Kind::Array);
        let end = if is_container { start + 1 } else { self.text.len() };
        self.values.insert(pointer.to_owned(), start..end);
    }

    fn scalar(&mut self, node: Node<'_>) {
        let hidden = self.masked && !matches!(node.kind(), Kind::Object | Kind::Array | Kind::Null);
        if hidden {
            self.text.extend(["<", node.type_name(), ">"]);
            return;
        }
        match node.raw().char_indices().nth(MAX_STRING_CHARS) {
            Some((end, _)) if node.kind() == Kind::String => {
                self.text.push_str(&node.raw()[..end]);
                self.text.push_str("…\"");
            }
            _ => self.text.push_str(node.raw()),
        }
    }

    fn begin_item(&mut self, first: usize, depth: usize) {
        if self.text.len() > first {
            self.text.push(',');
        }
        self.new_line(depth + 1);
    }

    fn end_items(&mut self, depth: usize, bracket: char) {
        self.new_line(depth);
        self.text.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        self.text.push('\n');
        self.text.push_str(&"  ".repeat(depth));
    }

    fn append(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }
}
