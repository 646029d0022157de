//! Changes to a text, made all at once.

use std::collections::BTreeMap;
use std::ops::Range;

/// Pieces of a text to be replaced. A piece that touches another one waits for the next round.
#[derive(Debug, Default)]
pub(super) struct Splices {
    /// By where they begin: where they end, and what comes in their place.
    pieces: BTreeMap<usize, (usize, String)>,
}

impl Splices {
    /// False when another change is in the way.
    pub(super) fn replace(&mut self, span: Range<usize>, by: String) -> bool {
        let before = self.pieces.range(..=span.start).next_back();
        let after = self.pieces.range(span.start..).next();
        let free = before.is_none_or(|(_, (end, _))| *end < span.start)
            && after.is_none_or(|(start, _)| span.end < *start);
        if free {
            self.pieces.insert(span.start, (span.end, by));
        }
        free
    }

    /// `base` is where the text begins in what the spans count from.
    pub(super) fn apply(self, text: &str, base: usize) -> String {
        let mut spliced = String::with_capacity(text.len());
        let mut position = 0;
        for (start, (end, by)) in self.pieces {
            let (start, end) = (start.saturating_sub(base), end.saturating_sub(base));
            spliced.push_str(text.get(position..start).unwrap_or_default());
            spliced.push_str(&by);
            position = end;
        }
        spliced.push_str(text.get(position..).unwrap_or_default());
        spliced
    }
}

#[cfg(test)]
mod tests {
    use super::Splices;

    #[test]
    fn pieces_that_touch_wait() {
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
