//! Splits a byte stream into lines, one message per line, with a limit on the length of a line.

use crate::envelope::{PartialHeader, PartialHeaderReader};

/// Bytes of an overlong line that are kept for diagnostics.
const PREFIX_BYTES: usize = 4096;

/// The bytes between two line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'b> {
    /// A line without its line break. A `\r` before the break is kept: it is JSON whitespace, and messages are
    /// forwarded unchanged.
    Line(&'b [u8]),
    /// A line over the size limit, of which only the beginning was kept.
    TooLong {
        /// The beginning of the line.
        beginning: &'b [u8],
        /// The id and kind found while the line was discarded.
        partial: PartialHeader,
    },
}

/// Splits a byte stream into lines.
///
/// ```
/// use stickler_protocol::frame::{Frame, LineFramer};
///
/// let mut framer = LineFramer::new(1024);
/// framer.push(b"{\"a\":1}\n{\"b\"");
/// assert_eq!(framer.next_frame(), Some(Frame::Line(b"{\"a\":1}")));
/// assert_eq!(framer.next_frame(), None);
/// framer.push(b":2}");
/// assert_eq!(framer.finish(), Some(Frame::Line(b"{\"b\":2}")));
/// ```
#[derive(Debug)]
pub struct LineFramer {
    limit: usize,
    buffer: Vec<u8>,
    /// Start of the current line.
    start: usize,
    /// End of the bytes that were searched for a line break.
    searched: usize,
    /// State of an overlong line: only its header and a prefix of this length are kept.
    overlong: Option<(PartialHeaderReader, usize)>,
}

impl LineFramer {
    /// Creates a framer for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new(), start: 0, searched: 0, overlong: None }
    }

    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete line.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.buffer.len();
            self.discard_overlong_line();
            return None;
        };
        let end = self.searched + offset;
        Some(self.take(end, end + 1))
    }

    /// Returns the last line if the input ended without a line break.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let end = self.buffer.len();
        (end > self.start || self.overlong.is_some()).then(|| self.take(end, end))
    }

    /// Whether an incomplete line is buffered.
    pub fn is_mid_line(&self) -> bool {
        self.buffer.len() > self.start || self.overlong.is_some()
    }

    fn take(&mut self, end: usize, next: usize) -> Frame<'_> {
        let start = std::mem::replace(&mut self.start, next);
        self.searched = next;
        let line = self.buffer.get(start..end).unwrap_or_default();
        let beginning = line.get(..PREFIX_BYTES).unwrap_or(line);
        if let Some((mut reader, kept)) = self.overlong.take() {
            reader.push(line.get(kept..).unwrap_or_default());
            return Frame::TooLong { beginning, partial: reader.finish() };
        }
        let without_return = line.strip_suffix(b"\r").unwrap_or(line);
        if without_return.len() > self.limit {
            return Frame::TooLong { beginning, partial: PartialHeader::of(line) };
        }
        Frame::Line(line)
    }

    fn discard_overlong_line(&mut self) {
        let held = self.buffer.len() - self.start;
        // One byte more than the limit, because a `\r` may end the line.
        if self.overlong.is_some() || held > self.limit + 1 {
            let line = self.buffer.get(self.start..).unwrap_or_default();
            let (mut reader, kept) = self.overlong.take().unwrap_or_default();
            reader.push(line.get(kept..).unwrap_or_default());
            let kept = held.min(PREFIX_BYTES);
            self.overlong = Some((reader, kept));
            self.buffer.truncate(self.start + kept);
            self.searched = self.buffer.len();
            self.buffer.shrink_to(PREFIX_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, LineFramer, PREFIX_BYTES};
    use proptest::prelude::*;

    fn lines(input: &[u8], limit: usize, piece: usize) -> Vec<Option<Vec<u8>>> {
        fn keep(frame: &Frame<'_>) -> Option<Vec<u8>> {
            match frame {
                Frame::Line(line) => Some(line.to_vec()),
                Frame::TooLong { .. } => None,
            }
        }
        let mut framer = LineFramer::new(limit);
        let mut all = Vec::new();
        for piece in input.chunks(piece) {
            framer.push(piece);
            while let Some(frame) = framer.next_frame() {
                all.push(keep(&frame));
            }
        }
        all.extend(framer.finish().as_ref().map(keep));
        all
    }

    #[test]
    fn line_endings_and_an_unterminated_last_line_are_split() {
        let expected = [Some(b"one\r".to_vec()), Some(b"".to_vec()), Some(b"two".to_vec())];
        assert_eq!(lines(b"one\r\n\ntwo", 10, 3), expected);
    }

    #[test]
    fn overlong_line_does_not_affect_the_next() {
        for piece in [1, 3, 100] {
            let expected = [Some(b"12345".to_vec()), None, Some(b"12345\r".to_vec())];
            assert_eq!(lines(b"12345\n123456\n12345\r\n", 5, piece), expected, "{piece}");
        }
    }

    #[test]
    fn endless_line_uses_bounded_memory() {
        let mut framer = LineFramer::new(1 << 20);
        let piece = vec![b'x'; 1 << 18];
        for _ in 0..64 {
            framer.push(&piece);
            assert_eq!(framer.next_frame(), None);
            assert!(framer.buffer.len() <= (1 << 20) + (1 << 18));
        }
        assert_eq!(framer.buffer.len(), PREFIX_BYTES);
        framer.push(b"\nnext\n");
        let frame = framer.next_frame();
        assert!(
            matches!(frame, Some(Frame::TooLong { beginning, .. }) if beginning.len() == PREFIX_BYTES)
        );
        assert_eq!(framer.next_frame(), Some(Frame::Line(b"next")));
    }

    #[test]
    fn id_at_the_end_of_an_endless_line_is_found() {
        for piece in [1, 1000, 1 << 20] {
            let mut framer = LineFramer::new(10_000);
            let text = format!("{{\"result\":{{\"x\":\"{}\"}},\"id\":7}}\n", "x".repeat(50_000));
            let mut seen = None;
            for piece in text.as_bytes().chunks(piece) {
                framer.push(piece);
                if let Some(Frame::TooLong { partial, .. }) = framer.next_frame() {
                    seen = Some((partial.id, partial.is_response));
                }
            }
            assert_eq!(seen, Some((Some("7".to_owned()), true)), "{piece}");
        }
    }

    #[test]
    fn id_of_an_overlong_line_is_found_in_pieces_below_the_length_of_the_prefix() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":\"abc\",\"result\":{\"x\":\"aaaaaaaa\"}}\n";
        let mut framer = LineFramer::new(8);
        for piece in line.chunks(5) {
            framer.push(piece);
            match framer.next_frame() {
                Some(Frame::TooLong { partial, .. }) => {
                    assert_eq!(partial.id.as_deref(), Some("\"abc\""));
                }
                other => assert_eq!(other, None),
            }
        }
        assert!(!framer.is_mid_line());
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunk_boundaries(input in "[a\n\r]{0,60}", piece in 1_usize..9) {
            let whole: Vec<Vec<u8>> = {
                let mut lines: Vec<&str> = input.split('\n').collect();
                if lines.last() == Some(&"") { lines.pop(); }
                lines.into_iter().map(|line| line.as_bytes().to_vec()).collect()
            };
            let cut: Vec<Vec<u8>> = lines(input.as_bytes(), 1000, piece).into_iter().flatten().collect();
            prop_assert_eq!(whole, cut);
        }
    }
}
