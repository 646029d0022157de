//! Messages as lines.

use crate::envelope::{Glimpse, Glimpser};

/// How much is kept of a line that is too long: enough to show.
const PREFIX: usize = 4096;

/// A run of bytes between two line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'b> {
    /// A line without its line break. A `\r` before the break is still there: JSON does not mind
    /// it, and what is forwarded is what came.
    Line(&'b [u8]),
    /// A line that is longer than allowed; most of it was let go.
    TooLong {
        /// How it began.
        beginning: &'b [u8],
        /// What was seen of it in passing.
        glimpse: Glimpse,
    },
}

/// Cuts a stream of bytes into lines.
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
    /// Where the line that is being read begins.
    start: usize,
    /// Up to where no line break is.
    searched: usize,
    /// The line that is being read is too long: its prefix is all that is kept of it, and what was
    /// seen of it.
    overlong: Option<Glimpser>,
}

impl LineFramer {
    /// Lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new(), start: 0, searched: 0, overlong: None }
    }

    /// Takes what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.buffer.len();
            self.let_go_of_the_rest();
            return None;
        };
        let end = self.searched + offset;
        Some(self.take(end, end + 1))
    }

    /// What is left when nothing more will arrive: a last line without a line break.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let end = self.buffer.len();
        (end > self.start || self.overlong.is_some()).then(|| self.take(end, end))
    }

    /// Whether a line has begun that has not ended.
    pub fn is_mid_line(&self) -> bool {
        self.buffer.len() > self.start || self.overlong.is_some()
    }

    fn take(&mut self, end: usize, next: usize) -> Frame<'_> {
        let start = std::mem::replace(&mut self.start, next);
        self.searched = next;
        let line = self.buffer.get(start..end).unwrap_or_default();
        let beginning = line.get(..PREFIX).unwrap_or(line);
        if let Some(mut glimpser) = self.overlong.take() {
            glimpser.look(line.get(PREFIX..).unwrap_or_default());
            return Frame::TooLong { beginning, glimpse: glimpser.finish() };
        }
        let without_return = line.strip_suffix(b"\r").unwrap_or(line);
        if without_return.len() > self.limit {
            return Frame::TooLong { beginning, glimpse: Glimpse::of(line) };
        }
        Frame::Line(line)
    }

    fn let_go_of_the_rest(&mut self) {
        let held = self.buffer.len() - self.start;
        // One byte more than the limit, for the `\r` that may end the line.
        if self.overlong.is_some() || held > self.limit + 1 {
            let line = self.buffer.get(self.start..).unwrap_or_default();
            match &mut self.overlong {
                Some(glimpser) => glimpser.look(line.get(PREFIX..).unwrap_or_default()),
                None => self.overlong.insert(Glimpser::default()).look(line),
            }
            self.buffer.truncate(self.start + held.min(PREFIX));
            self.searched = self.buffer.len();
            self.buffer.shrink_to(PREFIX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, LineFramer, PREFIX};
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
    fn line_endings_and_a_last_line_without_one() {
        let expected = [Some(b"one\r".to_vec()), Some(b"".to_vec()), Some(b"two".to_vec())];
        assert_eq!(lines(b"one\r\n\ntwo", 10, 3), expected);
    }

    #[test]
    fn a_line_that_is_too_long_does_not_hurt_the_next() {
        for piece in [1, 3, 100] {
            let expected = [Some(b"12345".to_vec()), None, Some(b"12345\r".to_vec())];
            assert_eq!(lines(b"12345\n123456\n12345\r\n", 5, piece), expected, "{piece}");
        }
    }

    #[test]
    fn an_endless_line_takes_no_memory() {
        let mut framer = LineFramer::new(1 << 20);
        let piece = vec![b'x'; 1 << 18];
        for _ in 0..64 {
            framer.push(&piece);
            assert_eq!(framer.next_frame(), None);
            assert!(framer.buffer.len() <= (1 << 20) + (1 << 18));
        }
        assert_eq!(framer.buffer.len(), PREFIX);
        framer.push(b"\nnext\n");
        let frame = framer.next_frame();
        assert!(
            matches!(frame, Some(Frame::TooLong { beginning, .. }) if beginning.len() == PREFIX)
        );
        assert_eq!(framer.next_frame(), Some(Frame::Line(b"next")));
    }

    #[test]
    fn the_id_at_the_end_of_an_endless_line_is_seen() {
        for piece in [1, 1000, 1 << 20] {
            let mut framer = LineFramer::new(10_000);
            let text = format!("{{\"result\":{{\"x\":\"{}\"}},\"id\":7}}\n", "x".repeat(50_000));
            let mut seen = None;
            for piece in text.as_bytes().chunks(piece) {
                framer.push(piece);
                if let Some(Frame::TooLong { glimpse, .. }) = framer.next_frame() {
                    seen = Some((glimpse.id, glimpse.is_response));
                }
            }
            assert_eq!(seen, Some((Some("7".to_owned()), true)), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(input in "[a\n\r]{0,60}", piece in 1_usize..9) {
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
