//! Lines of any length, of which only those within the limit are kept.

use std::io::{self, BufRead};

/// One line of an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'b> {
    /// Without its line ending.
    Whole(&'b [u8]),
    /// More than the limit; the rest was read past.
    TooLong,
}

/// Reads lines into a buffer that never grows past the limit.
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, buffer: Vec::new() }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut seen_any = false;
        let mut too_long = false;
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                break;
            }
            seen_any = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let (piece, used) = match end {
                Some(position) => (&available[..position], position + 1),
                None => (available, available.len()),
            };
            // One byte more than the limit, for the `\r` that may end the line.
            if too_long || self.buffer.len() + piece.len() > self.limit + 1 {
                too_long = true;
            } else {
                self.buffer.extend_from_slice(piece);
            }
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !seen_any {
            return Ok(None);
        }
        let line = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        let too_long = too_long || line.len() > self.limit;
        Ok(Some(if too_long { Line::TooLong } else { Line::Whole(line) }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};
    use std::io::BufReader;

    fn lines(input: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
        // A small buffer, so that lines come in pieces.
        let mut lines = Lines::new(BufReader::with_capacity(3, input), limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(match line {
                Line::Whole(text) => Some(text.to_vec()),
                Line::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn both_line_endings_and_a_last_line_without_one() {
        let expected = [Some(b"one".to_vec()), Some(b"".to_vec()), Some(b"two".to_vec())];
        assert_eq!(lines(b"one\r\n\ntwo", 10), expected);
    }

    #[test]
    fn a_line_that_is_too_long_does_not_hurt_the_next() {
        let expected = [Some(b"12345".to_vec()), None, Some(b"12345".to_vec())];
        assert_eq!(lines(b"12345\n123456\n12345\r\n", 5), expected);
    }
}
