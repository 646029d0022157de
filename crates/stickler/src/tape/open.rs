//! What the reader remembers of an array or object while it is open.

use super::Kind;
use super::keys::{FEW, KeyFilter};
use super::token::Info;

/// An array or object whose end has not been seen, or the text around them all.
///
/// 16 bytes: it is put aside and taken back whole for every value inside of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) keys: KeyFilter,
    /// Its token.
    pub(super) index: u32,
    /// What its token will say when it ends: how many members or elements there are so far, and
    /// whether a key is repeated. The mark: a key has escapes.
    pub(super) info: Info,
}

impl Open {
    pub(super) const TEXT: Self = Self::new(0, Kind::Null);

    pub(super) const fn new(index: u32, kind: Kind) -> Self {
        Self { keys: KeyFilter::NEW, index, info: Info::new(kind, false) }
    }

    pub(super) fn is_text(&self) -> bool {
        self.info.kind() == Kind::Null
    }

    pub(super) fn is_object(&self) -> bool {
        self.info.kind() == Kind::Object
    }

    /// What ends it.
    pub(super) fn closer(&self) -> u8 {
        if self.is_object() { b'}' } else { b']' }
    }

    /// Notes a key; whether it has to be compared with the earlier ones now.
    #[inline]
    pub(super) fn may_repeat(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        escaped: bool,
    ) -> bool {
        self.info.set_mark(escaped);
        let seen = self.keys.was_marked(bytes, start, end);
        seen && !self.info.mark() && self.info.count() < FEW
    }

    /// Large objects and those with escapes in their keys are looked at as a whole.
    pub(super) fn wants_look_at_close(&self) -> bool {
        let count = self.info.count();
        (count > FEW || self.info.mark() && count > 1) && self.is_object()
    }
}
