//! Zero-copy JSON parser: represents a JSON text as a flat sequence of tokens ("tape") that point into it.
//!
//! Most of the cost of validation is allocating a tree of owned values, not running the schema engine. The
//! parser therefore makes one pass over a message and writes 16-byte tokens into a reusable buffer. Strings
//! and numbers stay in the text and are decoded on access. Every token records its byte range, so that a
//! diagnostic can underline the location and a repair can rewrite only the affected bytes.
//!
//! The parser accepts exactly the grammar of RFC 8259. It accepts numbers of any size, and unpaired
//! surrogate escapes, which decode to U+FFFD. It accepts duplicate keys and reports them in
//! [`Tape::duplicate_keys`]. The caller limits the nesting depth.

mod block;
mod duplicate_keys;
mod engine;
mod kind;
mod lookup;
mod node;
mod number;
mod open_container;
mod path_length;
mod pointer;
mod scan;
mod splice;
mod step_budget;
mod string;
mod syntax_error;
mod token;
mod window;
pub(crate) mod work;

pub(crate) use engine::{EngineNode, TapeJson};
pub use kind::Kind;
pub(crate) use lookup::Lookup;
pub use node::{Elements, Members, Node};
pub(crate) use path_length::INDEX_SEGMENT_BYTES;
pub use pointer::{escape_segment, unescape_segment};
pub use splice::{Insertion, append, set_nested, splice};
pub(crate) use step_budget::StepBudget;
pub use string::quote;
pub use syntax_error::{SyntaxError, SyntaxErrorKind};
use token::Token;

/// A token buffer that can be reused for several JSON texts.
#[derive(Debug, Default)]
pub struct TapeBuffer {
    tokens: Vec<Token>,
    open: Vec<open_container::OpenContainer>,
    /// Keys that a later key of the same object repeats.
    overridden: Vec<u32>,
    /// Numbers past the range of `f64`.
    oversized: Vec<u32>,
}

impl TapeBuffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses one JSON text. `max_depth` limits how deeply arrays and objects may be nested.
    pub fn read<'t>(
        &'t mut self,
        bytes: &'t [u8],
        max_depth: usize,
    ) -> Result<Tape<'t>, SyntaxError> {
        if self.tokens.capacity() == 0 {
            // Avoids repeated reallocation if the buffer is used only once.
            self.tokens.reserve((bytes.len() / 8).clamp(8, 64));
        }
        self.open.clear();
        self.overridden.clear();
        self.oversized.clear();
        scan::scan(bytes, self, max_depth)?;
        // Inner objects add their keys before outer ones, and large objects may add a key twice.
        // `is_overridden` requires a sorted list.
        self.overridden.sort_unstable();
        self.overridden.dedup();
        let text = checked(bytes);
        let (tokens, overridden) = (&self.tokens, &self.overridden);
        Ok(Tape { text, tokens, overridden, oversized: &self.oversized })
    }
}

/// Converts bytes that the scanner has accepted to a string.
#[allow(unsafe_code, reason = "a second pass over every message would cost as much as the first")]
fn checked(bytes: &[u8]) -> &str {
    debug_assert!(std::str::from_utf8(bytes).is_ok());
    // SAFETY: the scanner accepted every byte. Outside strings the grammar allows only ASCII, and
    // every string with a non-ASCII byte was checked with `str::from_utf8`. The quotes around a
    // string are ASCII, so the concatenation of valid parts is valid. Tests and fuzzing compare
    // this with `str::from_utf8` on arbitrary bytes; debug builds do so for every message.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

/// A parsed JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Tape<'t> {
    text: &'t str,
    tokens: &'t [Token],
    overridden: &'t [u32],
    oversized: &'t [u32],
}

impl<'t> Tape<'t> {
    /// Returns the top-level value.
    pub fn root(&'t self) -> Node<'t> {
        Node::new(self, 0)
    }

    /// Returns the text that was parsed.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the keys that a later key of the same object repeats, in text order. As in most
    /// parsers, the last occurrence takes effect.
    pub fn duplicate_keys(&'t self) -> impl Iterator<Item = Node<'t>> {
        self.overridden.iter().map(|&index| Node::new(self, index))
    }

    /// Returns the duplicate keys inside `node`.
    pub fn duplicate_keys_in(&'t self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
        let range = node.tokens();
        let from = self.overridden.partition_point(|&index| index < range.start);
        let to = self.overridden.partition_point(|&index| index < range.end);
        let inside = self.overridden.get(from..to).unwrap_or_default();
        inside.iter().map(|&index| Node::new(self, index))
    }

    /// Returns the numbers outside the range of `f64`, for example `1e400`. JSON allows them, but
    /// parsers interpret them differently.
    pub fn oversized_numbers(&'t self) -> impl Iterator<Item = Node<'t>> {
        self.oversized.iter().map(|&index| Node::new(self, index))
    }

    fn is_overridden(&self, key: u32) -> bool {
        self.overridden.binary_search(&key).is_ok()
    }

    #[inline]
    fn token(&self, index: u32) -> Token {
        work::count(1);
        self.tokens.get(index as usize).copied().unwrap_or(Token::NULL)
    }

    #[inline]
    fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }
}
