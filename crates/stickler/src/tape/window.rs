//! Finding where strings end, for several of them at once.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

use super::block::{STRIDE, plain_strides, special_bits};
use super::fault::SyntaxErrorKind;
use super::string::{Scanned, scan_any};

/// Which of the bytes of one stride of the text are not plain ASCII, the first one lowest.
///
/// Strings are short and stand close together, so one look serves several of them. And where the
/// next one ends is then known from a number instead of from the text, which is read from where the
/// last one ended: a processor would have to wait for that, string after string.
pub(super) struct Window {
    start: usize,
    special: u64,
}

impl Window {
    /// Sees nothing yet.
    pub(super) const NEW: Self = Self { start: 0, special: 0 };

    /// From the byte after the opening quote to the closing quote. Each string is behind the one
    /// before.
    ///
    /// Nearly all strings are plain ASCII without an escape: those are done here, with as few
    /// branches as there can be, since it is the branches on lengths that cost.
    #[inline(always)]
    pub(super) fn string(
        &mut self,
        bytes: &[u8],
        start: usize,
    ) -> Result<Scanned, (SyntaxErrorKind, usize)> {
        let end = self.plain_end(bytes, start);
        if bytes.get(end) == Some(&b'"') {
            return Ok(Scanned { end, escaped: false, beyond_ascii: false });
        }
        scan_any(bytes, end)
    }

    /// Where the plain ASCII from `start` on ends.
    #[inline(always)]
    fn plain_end(&mut self, bytes: &[u8], start: usize) -> usize {
        let skipped = start.wrapping_sub(self.start);
        let special = if skipped < STRIDE { self.special >> skipped } else { 0 };
        if special != 0 {
            return start + special.trailing_zeros() as usize;
        }
        *self = Self::behind_plain_strides(bytes, start);
        self.start + self.special.trailing_zeros() as usize
    }

    /// On the first stride from `start` on in which there is anything special.
    #[inline(never)]
    fn behind_plain_strides(bytes: &[u8], start: usize) -> Self {
        let rest = bytes.get(start..).unwrap_or_default();
        // Long strings are rare: without this, all others would pay for getting ready for one.
        if let Some(stride) = rest.first_chunk() {
            let special = special_bits::<STRIDE>(stride);
            if special != 0 {
                return Self { start, special };
            }
        }
        let length = plain_strides(rest);
        let rest = rest.get(length..).unwrap_or_default();
        let special = rest.first_chunk().map_or_else(|| last_bits(rest), special_bits::<STRIDE>);
        Self { start: start + length, special }
    }
}

/// For less than a stride at the end of the text: what is past it is as special as a control
/// character.
fn last_bits(bytes: &[u8]) -> u64 {
    let mut stride = [0; STRIDE];
    for (to, &from) in stride.iter_mut().zip(bytes) {
        *to = from;
    }
    special_bits(&stride)
}
