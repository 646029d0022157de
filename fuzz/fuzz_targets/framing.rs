//! Framing does not depend on how the bytes are split, and loses none of them.
//!
//! Input: one byte for the limit, one byte for the size of the pieces, then the stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickler_protocol::frame::{Frame, LineFramer, SseEvent, SseFrame, SseFramer, sse_event};

/// A line, or the beginning and the id of one that is too long.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    TooLong(Option<String>),
}

fn line(frame: Frame<'_>) -> Line {
    match frame {
        Frame::Line(line) => Line::Whole(line.to_vec()),
        Frame::TooLong { partial, .. } => Line::TooLong(partial.id),
    }
}

fn lines(stream: &[u8], limit: usize, piece: usize) -> Vec<Line> {
    let mut framer = LineFramer::new(limit);
    let mut lines = Vec::new();
    for piece in stream.chunks(piece) {
        framer.push(piece);
        while let Some(frame) = framer.next_frame() {
            lines.push(line(frame));
        }
    }
    lines.extend(framer.finish().map(line));
    lines
}

/// Returns the events; `None` for one that is too long.
fn events(stream: &[u8], limit: usize, piece: usize) -> Vec<Option<SseEvent>> {
    let mut framer = SseFramer::new(limit);
    let mut events = Vec::new();
    for piece in stream.chunks(piece) {
        framer.push(piece);
        while let Some(frame) = framer.next_frame() {
            events.push(match frame {
                SseFrame::Event(event) => Some(event),
                SseFrame::TooLong(_) => None,
            });
        }
    }
    events
}

fn check_lines(stream: &[u8], limit: usize, piece: usize) {
    let found = lines(stream, limit, piece);
    assert_eq!(found, lines(stream, limit, stream.len().max(1)));
    let stream = stream.strip_suffix(b"\n").unwrap_or(stream);
    if stream.is_empty() {
        return;
    }
    let expected: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let length = expected.strip_suffix(b"\r").unwrap_or(expected).len();
        match found {
            Line::Whole(line) => assert!(line == expected && length <= limit),
            Line::TooLong(_) => assert!(length > limit),
        }
    }
}

fn check_events(stream: &[u8], limit: usize, piece: usize) {
    let found = events(stream, limit, piece);
    // Where the second half of a line break belongs to depends on the pieces, the fields do not.
    let fields = |events: &[Option<SseEvent>]| -> Vec<_> {
        let fields = |one: &SseEvent| (one.data.clone(), one.id.clone(), one.is_message, one.retry);
        events.iter().map(|one| one.as_ref().map(fields)).collect()
    };
    assert_eq!(fields(&found), fields(&events(stream, limit, stream.len().max(1))));
    for event in found.into_iter().flatten() {
        let Some(data) = &event.data else { continue };
        // A rewritten event contains the new message and nothing of the old one.
        let rewritten = events(&event.with_data(b"{}"), usize::MAX >> 1, 7);
        let [Some(rewritten)] = rewritten.as_slice() else { panic!("one event: {rewritten:?}") };
        assert_eq!(rewritten.data.as_deref(), Some(&b"{}"[..]));
        assert_eq!((&rewritten.id, rewritten.is_message), (&event.id, event.is_message));
        let sent = events(&sse_event(data), usize::MAX >> 1, 7);
        assert_eq!(sent.len(), 1);
    }
}

fuzz_target!(|data: &[u8]| {
    let [limit, piece, stream @ ..] = data else { return };
    let (limit, piece) = (usize::from(*limit), usize::from(*piece).max(1));
    check_lines(stream, limit, piece);
    check_events(stream, limit, piece);
});
