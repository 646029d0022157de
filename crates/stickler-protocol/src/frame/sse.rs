//! Splits a byte stream into server-sent events, with a limit on the size of an event.

use std::ops::Range;

/// An event of a stream with its original bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The bytes of the event, including the blank line that ends it.
    pub raw: Vec<u8>,
    /// The joined `data` lines; `None` for comments and events without data.
    pub data: Option<Vec<u8>>,
    /// The event id, from which a client can resume the stream.
    pub id: Option<String>,
    /// Whether the event type is `message` or absent.
    pub is_message: bool,
    /// The time in milliseconds to wait before the stream is reopened.
    pub retry: Option<u64>,
    /// Range of the `data` lines in `raw`, from the first to the last.
    lines: Range<usize>,
}

/// Output of the framer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseFrame {
    /// A complete event.
    Event(SseEvent),
    /// The beginning of an event over the size limit; the rest was discarded.
    TooLong(Vec<u8>),
}

/// Splits a byte stream into events.
///
/// ```
/// use stickler_protocol::frame::{SseFrame, SseFramer};
///
/// let mut framer = SseFramer::new(1024);
/// framer.push(b": hello\n\nid: 7\ndata: {\"a\":1}\n\ndata");
/// let Some(SseFrame::Event(comment)) = framer.next_frame() else { panic!() };
/// assert_eq!((comment.raw.as_slice(), comment.data), (b": hello\n\n".as_slice(), None));
/// let Some(SseFrame::Event(event)) = framer.next_frame() else { panic!() };
/// assert_eq!(event.data.as_deref(), Some(br#"{"a":1}"#.as_slice()));
/// assert_eq!(framer.next_frame(), None);
/// ```
#[derive(Debug)]
pub struct SseFramer {
    limit: usize,
    buffer: Vec<u8>,
    /// Start of the current line.
    line: usize,
    /// End of the bytes that were searched for a line break.
    searched: usize,
    /// Whether the event is over the limit and only its beginning is kept.
    overlong: bool,
    /// Whether the last line ended with `\r`, which an `\n` may follow.
    ended_by_return: bool,
}

/// Bytes of an overlong event that are kept, enough to find the request id.
const PREFIX_BYTES: usize = 4096;

/// Maximum size of the fields of an event besides its data, in bytes.
const MAX_OTHER_FIELDS_BYTES: usize = 4096;

impl SseFramer {
    /// Creates a framer for events with messages of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            line: 0,
            searched: 0,
            overlong: false,
            ended_by_return: false,
        }
    }

    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether an incomplete event is buffered.
    pub fn is_mid_event(&self) -> bool {
        self.overlong || !self.buffer.is_empty()
    }

    /// Returns the next complete event.
    pub fn next_frame(&mut self) -> Option<SseFrame> {
        loop {
            self.skip_feed();
            let from = self.searched.max(self.line);
            let rest = self.buffer.get(from..).unwrap_or_default();
            let Some(offset) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.searched = self.buffer.len();
                self.discard_overlong_event();
                return None;
            };
            let end = from + offset;
            let is_return = self.buffer.get(end) == Some(&b'\r');
            let followed_by_feed = self.buffer.get(end + 1) == Some(&b'\n');
            let is_pair = is_return && followed_by_feed;
            let next = end + if is_pair { 2 } else { 1 };
            let is_blank = end == self.line;
            // A `\r` at the end of the buffer may be the first half of a `\r\n` line break.
            self.ended_by_return = is_return && !is_pair && next == self.buffer.len();
            self.line = next;
            if is_blank {
                return Some(self.take(next));
            }
        }
    }

    /// Skips the `\n` that completes a line break whose `\r` ended the previous chunk.
    fn skip_feed(&mut self) {
        if self.ended_by_return && self.line < self.buffer.len() {
            self.line += usize::from(self.buffer.get(self.line) == Some(&b'\n'));
            self.ended_by_return = false;
        }
    }

    fn take(&mut self, end: usize) -> SseFrame {
        let rest = self.buffer.split_off(end);
        let raw = std::mem::replace(&mut self.buffer, rest);
        (self.line, self.searched) = (0, 0);
        if std::mem::take(&mut self.overlong) || raw.len() > self.limit + MAX_OTHER_FIELDS_BYTES {
            let data = SseEvent::read(raw).data.unwrap_or_default();
            return SseFrame::TooLong(data.get(..PREFIX_BYTES).unwrap_or(&data).to_vec());
        }
        SseFrame::Event(SseEvent::read(raw))
    }

    fn discard_overlong_event(&mut self) {
        if self.overlong || self.buffer.len() > self.limit + MAX_OTHER_FIELDS_BYTES {
            self.overlong = true;
            let in_line = self.line < self.buffer.len();
            self.buffer.truncate(PREFIX_BYTES);
            if self.line >= self.buffer.len() {
                self.line = self.buffer.len();
                // Keep a placeholder for the current line, so that its end is not taken for a blank
                // line.
                self.buffer.extend(in_line.then_some(b':'));
            }
            self.searched = self.buffer.len();
        }
    }
}

impl SseEvent {
    fn read(raw: Vec<u8>) -> Self {
        let mut data: Option<Vec<u8>> = None;
        let (mut id, mut is_message, mut retry, mut lines) = (None, true, None, 0..0);
        let mut start = 0;
        for line in raw.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let span = start..start + line.len();
            start = span.end;
            let is_second_half = raw.get(..span.start).is_some_and(|one| one.ends_with(b"\r"));
            if line == b"\n" && is_second_half && lines.end == span.start {
                lines.end = span.end;
            }
            let text = line.trim_ascii_end_of_line();
            // A stream may begin with a byte order mark.
            let text = if span.start == 0 { text.strip_prefix(BOM).unwrap_or(text) } else { text };
            let colon = memchr::memchr(b':', text).unwrap_or(text.len());
            let value = text.get(colon + 1..).unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match text.get(..colon).unwrap_or_default() {
                b"data" => {
                    if let Some(data) = &mut data {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    } else {
                        lines.start = span.start;
                        data = Some(value.to_vec());
                    }
                    lines.end = span.end;
                }
                b"id" => id = std::str::from_utf8(value).ok().map(str::to_owned),
                b"event" => is_message = value == b"message",
                b"retry" => {
                    retry = std::str::from_utf8(value).ok().and_then(|one| one.parse().ok());
                }
                _ => {}
            }
        }
        // An event with an empty message only carries an id to resume from.
        let data = data.filter(|data| !data.is_empty());
        Self { raw, data, id, is_message, retry, lines }
    }

    /// Returns the event with its message replaced.
    pub fn with_data(&self, message: &[u8]) -> Vec<u8> {
        let mut event = self.raw.get(..self.lines.start).unwrap_or_default().to_vec();
        write_data(message, &mut event);
        event.extend_from_slice(self.raw.get(self.lines.end..).unwrap_or_default());
        event
    }
}

/// Formats a message as an event.
pub fn sse_event(message: &[u8]) -> Vec<u8> {
    event_after(b"", message)
}

/// Formats a message as an event with an id, which must not contain line breaks.
pub fn sse_event_with_id(id: &str, message: &[u8]) -> Vec<u8> {
    event_after(format!("id: {id}\n").as_bytes(), message)
}

fn event_after(fields: &[u8], message: &[u8]) -> Vec<u8> {
    let mut event = Vec::with_capacity(fields.len() + message.len() + 24);
    event.extend_from_slice(fields);
    event.extend_from_slice(b"event: message\n");
    write_data(message, &mut event);
    event.push(b'\n');
    event
}

/// Writes every line as a `data` field, because a line break ends a field.
fn write_data(message: &[u8], event: &mut Vec<u8>) {
    for line in message.split(|byte| *byte == b'\n') {
        // A `\r` ends a line, too.
        for line in line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\r') {
            event.extend_from_slice(b"data: ");
            event.extend_from_slice(line);
            event.push(b'\n');
        }
    }
}

/// U+FEFF in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

trait Line {
    fn trim_ascii_end_of_line(&self) -> &[u8];
}

impl Line for [u8] {
    fn trim_ascii_end_of_line(&self) -> &[u8] {
        self.strip_suffix(b"\n").or_else(|| self.strip_suffix(b"\r")).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{SseEvent, SseFrame, SseFramer, sse_event};
    use proptest::prelude::*;

    fn events(input: &[u8], limit: usize, piece: usize) -> Vec<Option<SseEvent>> {
        let mut framer = SseFramer::new(limit);
        let mut all = Vec::new();
        for piece in input.chunks(piece) {
            framer.push(piece);
            while let Some(frame) = framer.next_frame() {
                all.push(match frame {
                    SseFrame::Event(event) => Some(event),
                    SseFrame::TooLong(_) => None,
                });
            }
        }
        all
    }

    fn data(input: &str) -> Vec<Option<String>> {
        let all = events(input.as_bytes(), 1000, 7).into_iter().flatten();
        all.map(|event| event.data.map(|data| String::from_utf8(data).unwrap())).collect()
    }

    #[test]
    fn events_are_parsed_with_all_line_endings_and_fields() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(data("data: a\n\n"), [text("a")]);
        assert_eq!(data("data:a\r\n\r\ndata: b\r\n\r\n"), [text("a"), text("b")]);
        assert_eq!(data("data: a\rdata: b\r\rdata: c\n\n"), [text("a\nb"), text("c")]);
        assert_eq!(data(": ping\n\nid: 1\ndata:\n\n"), [None, None]);
        assert_eq!(data("\u{feff}data: a\n\n"), [text("a")]);
        assert_eq!(
            data("event: message\nid: 9\ndata: {\"x\": \":\"}\n\n"),
            [text("{\"x\": \":\"}")]
        );
    }

    #[test]
    fn replacing_the_message_keeps_the_other_fields() {
        let all = events(b"id: 1\ndata: a\ndata: b\nretry: 5\n\n", 100, 100);
        let event = all[0].as_ref().unwrap();
        assert_eq!((event.id.as_deref(), event.is_message), (Some("1"), true));
        assert_eq!(event.with_data(b"new"), b"id: 1\ndata: new\nretry: 5\n\n");
        let all = events(b"data: a\r\nid: 1\r\n\r\n", 100, 100);
        let event = all[0].as_ref().unwrap();
        assert_eq!(event.with_data(b"new"), b"data: new\nid: 1\r\n\r\n");
        assert_eq!(sse_event(b"{}"), b"event: message\ndata: {}\n\n");
        let lines = b"event: message\ndata: {\ndata: \ndata: }\ndata: \n\n";
        assert_eq!(sse_event(b"{\r\r}\r\n"), lines, "whatever ends a line ends a field");
        for (old, new) in [
            ("event: message\nid: 2\ndata: a\n\n", "event: message\nid: 2\ndata: new\n\n"),
            ("data: a\r\n\r\n", "data: new\n\r\n"),
            ("data: a\r\r", "data: new\n\r"),
            ("data: a\r\n\n", "data: new\n\n"),
        ] {
            let all = events(old.as_bytes(), 100, 100);
            let changed = all[0].as_ref().unwrap().with_data(b"new");
            assert_eq!(String::from_utf8(changed).unwrap(), new, "the end of the event stays");
        }
    }

    #[test]
    fn overlong_event_does_not_affect_the_next() {
        let long = format!("data: {}\n\ndata: next\n\n", "x".repeat(20_000));
        for piece in [1, 1000, 100_000] {
            let all = events(long.as_bytes(), 10_000, piece);
            assert_eq!(all.len(), 2, "{piece}");
            assert_eq!(all[0], None);
            assert_eq!(all[1].as_ref().unwrap().data.as_deref(), Some(b"next".as_slice()));
        }
    }

    #[test]
    fn line_break_that_a_chunk_ends_with_is_not_skipped_twice() {
        let all = events(b"data: a\r\n\ndata: b\n\n", 100, 9);
        let texts: Vec<_> = all.iter().map(|one| one.as_ref().unwrap().data.as_deref()).collect();
        assert_eq!(texts, [Some(b"a".as_slice()), Some(b"b")]);
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_at_chunk_boundaries(
            parts in proptest::collection::vec("(data: a|: c|id: 1|)(\n|\r|\r\n)", 0..20), piece in 1_usize..9,
        ) {
            let input = parts.concat();
            let split = events(input.as_bytes(), 1000, piece);
            let whole = events(input.as_bytes(), 1000, input.len().max(1));
            let messages = |events: &[Option<SseEvent>]| -> Vec<_> {
                events.iter().flatten().map(|one| (one.data.clone(), one.id.clone())).collect()
            };
            prop_assert_eq!(messages(&split), messages(&whole));
            let raw: Vec<u8> = split.into_iter().flatten().flat_map(|one| one.raw).collect();
            prop_assert!(input.as_bytes().starts_with(&raw));
        }
    }
}
