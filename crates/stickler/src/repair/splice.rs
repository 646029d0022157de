//! Replaces several spans of a text at once.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::tape::splice;

/// Non-adjacent spans of a text and their replacements.
#[derive(Debug, Default)]
pub(super) struct Splices {
    /// The end and the replacement of each span, by its start.
    pieces: BTreeMap<usize, (usize, String)>,
}

impl Splices {
    /// Adds a replacement. Returns false if it overlaps or touches another one; it can then be made in
    /// the next round.
    pub(super) fn replace(&mut self, span: Range<usize>, replacement: String) -> bool {
        let before = self.pieces.range(..=span.start).next_back();
        let after = self.pieces.range(span.start..).next();
        let free = before.is_none_or(|(_, (end, _))| *end < span.start)
            && after.is_none_or(|(start, _)| span.end < *start);
        if free {
            self.pieces.insert(span.start, (span.end, replacement));
        }
        free
    }

    /// Applies all replacements; `base` is the offset of the text within the coordinates of the spans.
    pub(super) fn apply(self, text: &str, base: usize) -> String {
        let edits = self.pieces.into_iter().map(|(start, (end, replacement))| {
            (start.saturating_sub(base)..end.saturating_sub(base), replacement)
        });
        splice(text, edits.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Splices;

    #[test]
    fn touching_spans_are_rejected() {
        let mut splices = Splices::default();
        assert!(splices.replace(12..14, "x".to_owned()));
        for span in [14..15, 10..12, 13..13, 11..20, 12..13, 14..14, 12..12] {
            assert!(!splices.replace(span.clone(), String::new()), "{span:?}");
        }
        assert!(splices.replace(15..16, "y".to_owned()));
        assert!(splices.replace(10..11, String::new()));
        assert_eq!(splices.apply("0123456789", 10), "1x4y6789");
    }
}
