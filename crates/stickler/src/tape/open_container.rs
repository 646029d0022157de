//! State of an array or object that the parser has not finished.

use super::Kind;
use super::duplicate_keys::{KeyFilter, MAX_COMPARED_KEYS};
use super::token::Info;

/// An array or object that has not been closed, or the text as a whole.
///
/// It has 16 bytes because it is pushed and popped for every nested value.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenContainer {
    pub(super) keys: KeyFilter,
    /// The index of its token.
    pub(super) index: u32,
    /// The final `info` of its token: the number of members or elements so far, and whether a key is
    /// duplicate. The mark is set if a key has escapes.
    pub(super) info: Info,
}

impl OpenContainer {
    /// The text as a whole.
    pub(super) const TEXT: Self = Self::new(0, Kind::Null);

    pub(super) const fn new(index: u32, kind: Kind) -> Self {
        Self { keys: KeyFilter::EMPTY, index, info: Info::new(kind, false) }
    }

    pub(super) fn is_text(&self) -> bool {
        self.info.kind() == Kind::Null
    }

    pub(super) fn is_object(&self) -> bool {
        self.info.kind() == Kind::Object
    }

    /// Returns the closing character.
    pub(super) fn closer(&self) -> u8 {
        if self.is_object() { b'}' } else { b']' }
    }

    /// Adds a key. Returns whether it must be compared with the earlier keys now.
    #[inline]
    pub(super) fn add_key(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        escaped: bool,
    ) -> bool {
        self.info.set_mark(escaped);
        let seen = self.keys.insert(bytes, start, end);
        seen && !self.info.mark() && self.info.count() < MAX_COMPARED_KEYS
    }

    /// Whether all keys must be compared on closing: in large objects and those with escaped keys.
    pub(super) fn needs_duplicate_check(&self) -> bool {
        let count = self.info.count();
        (count > MAX_COMPARED_KEYS || self.info.mark() && count > 1) && self.is_object()
    }
}
