//! Captures the output of a program up to a size limit.

use std::collections::VecDeque;

/// Default number of bytes kept of the beginning of a stream, and of its end.
const HALF_BYTES: usize = 16 << 10;

/// Limit on the last line of a stream that is reported as progress, in bytes.
const MAX_LINE_BYTES: usize = 500;

/// The beginning and the end of a stream.
#[derive(Debug)]
pub(super) struct Captured {
    /// Number of bytes kept of the beginning, and of the end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Default for Captured {
    fn default() -> Self {
        Self::keeping(HALF_BYTES)
    }
}

impl Captured {
    /// Keeps this number of bytes of the beginning and of the end.
    pub(super) fn keeping(half: usize) -> Self {
        Self { half, head: Vec::new(), tail: VecDeque::new(), omitted: 0 }
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        let room = self.half - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = rest;
        self.tail.extend(bytes);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.omitted += excess as u64;
    }

    /// Returns the number of bytes of the stream.
    pub(super) fn total(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.omitted
    }

    /// Returns the last line that is not empty.
    pub(super) fn last_line(&self) -> String {
        let end: Vec<u8> = if self.tail.is_empty() {
            self.head[self.head.len().saturating_sub(MAX_LINE_BYTES)..].to_vec()
        } else {
            self.tail.iter().skip(self.tail.len().saturating_sub(MAX_LINE_BYTES)).copied().collect()
        };
        let text = String::from_utf8_lossy(&end);
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
    }

    /// Returns the text, with a note in place of omitted bytes.
    pub(super) fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.omitted > 0 {
            bytes.extend(format!("\n… {} bytes omitted …\n", self.omitted).bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Shortens a text to the size that is returned to callers.
pub(super) fn shorten(text: &str) -> String {
    let mut captured = Captured::default();
    captured.add(text.as_bytes());
    captured.text()
}

/// Truncates a text at a character boundary.
pub(crate) fn clip(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::{Captured, HALF_BYTES, clip};

    #[test]
    fn long_output_keeps_beginning_and_end() {
        let mut captured = Captured::default();
        captured.add(b"first ");
        for _ in 0..HALF_BYTES {
            captured.add(b"middle");
        }
        captured.add(b" last");
        let text = captured.text();
        assert!(text.starts_with("first middle") && text.ends_with("middle last"));
        assert!(text.contains("bytes omitted"), "{}", text.len());
        assert!(text.len() < 3 * HALF_BYTES);
    }

    #[test]
    fn short_output_is_complete() {
        let mut captured = Captured::default();
        captured.add(&[b'x'; HALF_BYTES]);
        captured.add(b"y");
        assert_eq!(captured.text().len(), HALF_BYTES + 1);
        assert_eq!(clip("aé", 2), "a");
    }
}
