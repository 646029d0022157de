//! What the reader remembers of an array or object while it is open.

use super::keys::KeyFilter;

/// An array or object whose end has not been seen, or the text around them all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// Its token.
    pub(super) index: u32,
    /// Members or elements so far.
    pub(super) count: u32,
    pub(super) keys: KeyFilter,
    /// What ends it. A sentinel for the text itself saves a question after every value.
    pub(super) closer: u8,
}

impl Open {
    pub(super) const TEXT: Self = Self { index: 0, count: 0, keys: KeyFilter::NEW, closer: 0 };

    pub(super) fn is_text(&self) -> bool {
        self.closer == 0
    }

    pub(super) fn is_object(&self) -> bool {
        self.closer == b'}'
    }
}
