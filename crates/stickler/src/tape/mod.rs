//! The tape: a JSON text as a flat row of tokens that point into it.
//!
//! Building a tree of owned values is what makes validation slow, not the schema engine. So a
//! message is read once, into a reusable row of 16-byte tokens; strings and numbers stay where they
//! are in the text and are decoded only when someone looks at them. Every token knows where it came
//! from, which is what lets a diagnostic underline the place and a repair change only the bytes
//! concerned.
//!
//! The reader accepts exactly the grammar of RFC 8259. Where that leaves room, what is only text until
//! someone looks is accepted: numbers of any size, and escapes of half a surrogate pair, which name no
//! character and are read as U+FFFD. Repeated keys are accepted and noted in
//! [`Tape::duplicate_keys`]; nesting is bounded by the caller.

mod block;
mod budget;
mod engine;
mod fault;
mod keys;
mod kind;
mod lookup;
mod node;
mod number;
mod open;
mod path_length;
mod pointer;
mod scan;
mod string;
mod token;
mod window;
pub(crate) mod work;

pub(crate) use budget::StepBudget;
pub(crate) use engine::{EngineNode, TapeJson};
pub use fault::{SyntaxError, SyntaxErrorKind};
pub use kind::Kind;
pub(crate) use lookup::Lookup;
pub use node::{Elements, Members, Node};
pub use pointer::{escape_segment, unescape_segment};
pub use string::quote;
use token::Token;

/// Room for the tokens of one JSON text, to be used again for the next.
#[derive(Debug, Default)]
pub struct TapeBuffer {
    tokens: Vec<Token>,
    open: Vec<open::Open>,
    /// Keys that a later key of the same object repeats.
    overridden: Vec<u32>,
    /// Numbers past the range of `f64`.
    oversized: Vec<u32>,
}

impl TapeBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one JSON text. `max_depth` is the number of arrays and objects that may be open at
    /// once.
    pub fn read<'t>(
        &'t mut self,
        bytes: &'t [u8],
        max_depth: usize,
    ) -> Result<Tape<'t>, SyntaxError> {
        if self.tokens.capacity() == 0 {
            // A buffer that is used once does not grow step by step.
            self.tokens.reserve((bytes.len() / 8).clamp(8, 64));
        }
        self.open.clear();
        self.overridden.clear();
        self.oversized.clear();
        scan::scan(bytes, self, max_depth)?;
        // Nested objects note theirs first, large ones some of theirs twice; looking one up wants
        // them in order.
        self.overridden.sort_unstable();
        self.overridden.dedup();
        let text = checked(bytes);
        let (tokens, overridden) = (&self.tokens, &self.overridden);
        Ok(Tape { text, tokens, overridden, oversized: &self.oversized })
    }
}

/// A text that was read without an error.
#[allow(unsafe_code, reason = "a second pass over every message would cost as much as the first")]
fn checked(bytes: &[u8]) -> &str {
    debug_assert!(std::str::from_utf8(bytes).is_ok());
    // SAFETY: the scanner accepted every byte. Outside of strings the grammar allows ASCII only,
    // and every string with a byte beyond ASCII went through `str::from_utf8`. The quotes around
    // a string are ASCII, so the whole is valid where its parts are. Tests and fuzzing compare
    // this with `str::from_utf8` on arbitrary bytes; debug builds do so on every message.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}

/// One JSON text, read.
#[derive(Debug, Clone, Copy)]
pub struct Tape<'t> {
    text: &'t str,
    tokens: &'t [Token],
    overridden: &'t [u32],
    oversized: &'t [u32],
}

impl<'t> Tape<'t> {
    /// The value that the text is.
    pub fn root(&'t self) -> Node<'t> {
        Node::new(self, 0)
    }

    /// The text as it was read.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The keys that a later key of the same object repeats, in the order of the text. As in most
    /// readers, the last one is the one that counts.
    pub fn duplicate_keys(&'t self) -> impl Iterator<Item = Node<'t>> {
        self.overridden.iter().map(|&index| Node::new(self, index))
    }

    /// Those of them that are inside of a value.
    pub fn duplicate_keys_in(&'t self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
        let range = node.tokens();
        let from = self.overridden.partition_point(|&index| index < range.start);
        let to = self.overridden.partition_point(|&index| index < range.end);
        let inside = self.overridden.get(from..to).unwrap_or_default();
        inside.iter().map(|&index| Node::new(self, index))
    }

    /// The numbers past the range of `f64`, such as `1e400`: JSON allows them, readers do not agree
    /// on what they are.
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
