//! Changes to a text, made all at once.

use std::ops::Range;

/// Pieces of a text to be replaced. A piece that touches another one waits for the next round.
#[derive(Debug, Default)]
pub(super) struct Splices {
    pieces: Vec<(Range<usize>, String)>,
}

impl Splices {
    /// False when another change is in the way.
    pub(super) fn replace(&mut self, span: Range<usize>, by: String) -> bool {
        let free =
            self.pieces.iter().all(|(taken, _)| span.end < taken.start || taken.end < span.start);
        if free {
            self.pieces.push((span, by));
        }
        free
    }

    /// `base` is where the text begins in what the spans count from.
    pub(super) fn apply(mut self, text: &str, base: usize) -> String {
        self.pieces.sort_by_key(|(span, _)| span.start);
        let mut spliced = String::with_capacity(text.len());
        let mut position = 0;
        for (span, by) in self.pieces {
            let (start, end) = (span.start.saturating_sub(base), span.end.saturating_sub(base));
            spliced.push_str(text.get(position..start).unwrap_or_default());
            spliced.push_str(&by);
            position = end;
        }
        spliced.push_str(text.get(position..).unwrap_or_default());
        spliced
    }
}
