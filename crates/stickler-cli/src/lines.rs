//! Reads an input line by line with bounded memory.

use std::io::{self, ErrorKind, Read};

use stickler_protocol::frame::{Frame, LineFramer};

/// Bytes per read: small enough to stay in the CPU cache while the lines are processed.
const CHUNK_BYTES: usize = 128 << 10;

/// Line reader over a [`LineFramer`].
///
/// Each [`fill`](Self::fill) reads one chunk, after which [`next`](Self::next) returns the complete lines.
/// Lines from a pipe are therefore available as soon as they arrive.
pub(crate) struct Lines<R> {
    input: R,
    framer: LineFramer,
    chunk: Vec<u8>,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Creates a reader for lines of up to `limit` bytes.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, framer: LineFramer::new(limit), chunk: vec![0; CHUNK_BYTES], ended: false }
    }

    /// Reads the next chunk. Returns `false` at the end of the input, once all lines have been returned.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let read = loop {
            match self.input.read(&mut self.chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome?,
            }
        };
        self.ended = read == 0;
        self.framer.push(self.chunk.get(..read).unwrap_or_default());
        Ok(!self.ended || self.framer.is_mid_line())
    }

    /// Returns the next complete line.
    pub(crate) fn next(&mut self) -> Option<Frame<'_>> {
        if self.ended { self.framer.finish() } else { self.framer.next_frame() }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, Lines};
    use std::io::{Cursor, Read};
    use stickler_protocol::frame::Frame;

    fn lines(input: impl Read, limit: usize) -> Vec<Option<usize>> {
        let mut lines = Lines::new(input, limit);
        let mut lengths = Vec::new();
        while lines.fill().unwrap() {
            while let Some(frame) = lines.next() {
                lengths.push(match frame {
                    Frame::Line(line) => Some(line.len()),
                    Frame::TooLong { .. } => None,
                });
            }
        }
        lengths
    }

    #[test]
    fn last_line_may_lack_a_line_break() {
        assert_eq!(lines(&b"one\n\nfive5"[..], 10), [Some(3), Some(0), Some(5)]);
        assert_eq!(lines(&b"one\n"[..], 10), [Some(3)]);
        assert_eq!(lines(&b""[..], 10), []);
    }

    #[test]
    fn lines_may_span_chunks() {
        let long = vec![b'x'; CHUNK_BYTES + 7];
        let input = [&long[..], b"\n12345\n", &long, b"\n123"].concat();
        assert_eq!(lines(Cursor::new(&input), 1000), [None, Some(5), None, Some(3)]);
        let lengths = [Some(CHUNK_BYTES + 7), Some(5), Some(CHUNK_BYTES + 7), Some(3)];
        assert_eq!(lines(Cursor::new(&input), 2 * CHUNK_BYTES), lengths);
    }
}
