//! The lines of an input, never more of it in memory than the core's framer keeps.

use std::io::{self, ErrorKind, Read};

use stickler_protocol::frame::{Frame, LineFramer};

/// How much is read at a time: what stays in a core's cache while it is looked at.
const CHUNK: usize = 128 << 10;

/// Reads an input piece by piece.
///
/// After each [`fill`](Self::fill) the lines that are complete can be taken. What comes from a pipe
/// can so be judged as it comes.
pub(crate) struct Lines<R> {
    input: R,
    framer: LineFramer,
    chunk: Vec<u8>,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Lines of up to `limit` bytes.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, framer: LineFramer::new(limit), chunk: vec![0; CHUNK], ended: false }
    }

    /// Reads some more; false when there is no more and nothing is left.
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

    /// The next line of what was read.
    pub(crate) fn next(&mut self) -> Option<Frame<'_>> {
        if self.ended { self.framer.finish() } else { self.framer.next_frame() }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Lines};
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
    fn a_last_line_needs_no_line_break() {
        assert_eq!(lines(&b"one\n\nfive5"[..], 10), [Some(3), Some(0), Some(5)]);
        assert_eq!(lines(&b"one\n"[..], 10), [Some(3)]);
        assert_eq!(lines(&b""[..], 10), []);
    }

    #[test]
    fn lines_go_on_from_one_piece_to_the_next() {
        let long = vec![b'x'; CHUNK + 7];
        let input = [&long[..], b"\n12345\n", &long, b"\n123"].concat();
        assert_eq!(lines(Cursor::new(&input), 1000), [None, Some(5), None, Some(3)]);
        let lengths = [Some(CHUNK + 7), Some(5), Some(CHUNK + 7), Some(3)];
        assert_eq!(lines(Cursor::new(&input), 2 * CHUNK), lengths);
    }
}
