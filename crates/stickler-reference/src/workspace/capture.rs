//! What a program prints, kept within bounds.

use std::collections::VecDeque;

/// How much of a stream is kept of its beginning, and as much of its end.
const HALF: usize = 16 << 10;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
pub(super) struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Captured {
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        let room = HALF - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = rest;
        self.tail.extend(bytes);
        let excess = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..excess);
        self.left_out += excess as u64;
    }

    /// For reading; says where something is left out.
    pub(super) fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.left_out > 0 {
            bytes.extend(format!("\n… {} bytes left out …\n", self.left_out).bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The beginning of a text, cut between characters.
pub(crate) fn clip(text: &str, longest: usize) -> &str {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::{Captured, HALF, clip};

    #[test]
    fn beginning_and_end_are_kept_and_the_middle_is_counted() {
        let mut captured = Captured::default();
        captured.add(b"first ");
        for _ in 0..HALF {
            captured.add(b"middle");
        }
        captured.add(b" last");
        let text = captured.text();
        assert!(text.starts_with("first middle") && text.ends_with("middle last"));
        assert!(text.contains("bytes left out"), "{}", text.len());
        assert!(text.len() < 3 * HALF);
    }

    #[test]
    fn what_is_short_is_whole() {
        let mut captured = Captured::default();
        captured.add(&[b'x'; HALF]);
        captured.add(b"y");
        assert_eq!(captured.text().len(), HALF + 1);
        assert_eq!(clip("aé", 2), "a");
    }
}
