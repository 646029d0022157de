//! String scanner that classifies the bytes of several strings at once.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

use super::block::{STRIDE, plain_strides, special_bits};
use super::string::{Scanned, scan_any};
use super::syntax_error::SyntaxErrorKind;

/// The classification of one stride of the text: one bit for each byte that is not plain ASCII, the lowest
/// bit for the first byte.
///
/// Strings are short and close together, so one classification serves several of them. The end of the next
/// string then comes from a register. Reading the text from the end of the previous string instead would
/// make every string depend on a load for the one before it.
pub(super) struct Window {
    start: usize,
    special: u64,
}

impl Window {
    /// A window without classified bytes.
    pub(super) const EMPTY: Self = Self { start: 0, special: 0 };

    /// Scans a string from the byte after its opening quote to its closing quote. Strings must be scanned
    /// in text order.
    ///
    /// Nearly all strings are plain ASCII without escapes. This function handles those with as few branches
    /// as possible, because mispredicted branches on string lengths dominate the cost.
    #[inline(always)]
    pub(super) fn string(
        &mut self,
        bytes: &[u8],
        start: usize,
    ) -> Result<Scanned, (SyntaxErrorKind, usize)> {
        let end = self.plain_end(bytes, start);
        if bytes.get(end) == Some(&b'"') {
            return Ok(Scanned { end, escaped: false, non_ascii: false });
        }
        scan_any(bytes, end)
    }

    /// Returns the offset of the first byte from `start` on that is not plain ASCII.
    #[inline(always)]
    fn plain_end(&mut self, bytes: &[u8], start: usize) -> usize {
        let skipped = start.wrapping_sub(self.start);
        let special = if skipped < STRIDE { self.special >> skipped } else { 0 };
        if special != 0 {
            return start + special.trailing_zeros() as usize;
        }
        *self = Self::after_plain_strides(bytes, start);
        self.start + self.special.trailing_zeros() as usize
    }

    /// Moves to the first stride from `start` on that contains a special byte.
    #[inline(never)]
    fn after_plain_strides(bytes: &[u8], start: usize) -> Self {
        let rest = bytes.get(start..).unwrap_or_default();
        // Long strings are rare; this avoids the setup cost of `plain_strides` for all others.
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

/// Classifies the last bytes of the text, which are fewer than a stride. The missing bytes are filled with
/// zeros, which count as control characters.
fn last_bits(bytes: &[u8]) -> u64 {
    let mut stride = [0; STRIDE];
    for (to, &from) in stride.iter_mut().zip(bytes) {
        *to = from;
    }
    special_bits(&stride)
}
