//! Reads a recording: turns bytes into messages with a sender, in batches.
//!
//! The caller validates a batch itself or passes it to another thread.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use stickler::tape::TapeBuffer;
use stickler_protocol::Side;
use stickler_protocol::envelope::PartialHeader;
use stickler_protocol::frame::Frame;
use stickler_recording::Directions;

use super::Setup;
use super::input;
use super::record::{Header, Line};
use crate::lines::Lines;

/// Maximum length of one escaped byte in a record, as in `\u0000`.
const MAX_ESCAPED_LEN: usize = 6;
/// Size limit for the members of a record other than the message.
const MAX_RECORD_OVERHEAD_BYTES: usize = 64 << 10;

/// Larger buffers are freed instead of being reused.
const MAX_REUSED_BYTES: usize = 2 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Messages of one chunk of a file.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    pub(super) items: Vec<Item>,
    /// Number of records that are not messages.
    pub(super) skipped: usize,
}

/// One line to validate.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) side: Side,
    pub(super) time: Duration,
    pub(super) content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Message(Range<usize>),
    /// A message above the size limit, with the part of its header that was parsed.
    TooLong(PartialHeader),
    /// A record without a readable message.
    BrokenRecord,
    /// A message that the gateway judged: the range of its verdict, if it has findings.
    Judged(Option<Range<usize>>),
    /// A message of the gateway itself. It changes the state of the session and has no findings.
    ByGateway(Range<usize>),
    /// The gateway that recorded the session ran in the mode `assist`.
    Assisting,
}

impl Batch {
    pub(super) fn text(&self, range: &Range<usize>) -> &[u8] {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Clears a batch for reuse.
    pub(super) fn cleared(mut self) -> Self {
        if self.text.capacity() > MAX_REUSED_BYTES {
            return Self::default();
        }
        self.text.clear();
        self.items.clear();
        self.skipped = 0;
        self
    }

    fn keep(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        start..self.text.len()
    }
}

/// Reads a file to its end. `exchange` takes each batch and returns an empty one, or `None` to stop. An error has
/// the number of the line that could not be read, 0 for the whole file.
pub(super) fn read(
    path: &Path,
    setup: &Setup,
    mut exchange: impl FnMut(Batch) -> Option<Batch>,
) -> Result<(), (usize, io::Error)> {
    let input = input::open(path, &setup.bar).map_err(|error| (0, error))?;
    let max_line_bytes =
        setup.config.limits.message_bytes * MAX_ESCAPED_LEN + MAX_RECORD_OVERHEAD_BYTES;
    let mut lines = Lines::new(input, max_line_bytes);
    let mut reader = Reader::new(setup);
    let mut batch = Batch::default();
    while lines.fill().map_err(|error| (reader.line + 1, error))? {
        while let Some(frame) = lines.next() {
            reader.take(frame, &mut batch);
        }
        if batch.has_lines() {
            match exchange(batch) {
                Some(empty) => batch = empty,
                None => break,
            }
        }
    }
    Ok(())
}

impl Batch {
    fn has_lines(&self) -> bool {
        !self.items.is_empty() || self.skipped > 0
    }
}

struct Reader<'s> {
    setup: &'s Setup,
    /// Created with the first raw message.
    directions: Option<Directions<'s>>,
    buffer: TapeBuffer,
    line: usize,
    /// The file is a recording of the gateway.
    header: Option<Header>,
}

impl<'s> Reader<'s> {
    fn new(setup: &'s Setup) -> Self {
        let buffer = TapeBuffer::new();
        Self { setup, directions: None, buffer, line: 0, header: None }
    }

    fn take(&mut self, frame: Frame<'_>, batch: &mut Batch) {
        self.line += 1;
        let is_recording = self.header.is_some();
        let is_complete = self.header.is_some_and(|header| header.is_complete);
        let (line, oversized) = match frame {
            Frame::Line(text) => (Line::read(self.clean(text), &mut self.buffer), None),
            Frame::TooLong { beginning, partial } => {
                (Line::read_beginning(self.clean(beginning)), Some(partial))
            }
        };
        let (side, time, content) = match line {
            Line::Header(header) => {
                self.header = Some(header);
                if !(header.is_complete && header.is_assisting) {
                    return;
                }
                (Side::Client, Duration::ZERO, Content::Assisting)
            }
            Line::ByGateway { side, time, message } if is_complete => {
                (side, time, Content::ByGateway(batch.keep(message.as_bytes())))
            }
            Line::OtherRecord | Line::ByGateway { .. } => {
                batch.skipped += usize::from(!is_recording);
                return;
            }
            Line::Recorded { side, time, message, .. } if is_complete => {
                (side, time, Content::Message(batch.keep(message.as_bytes())))
            }
            Line::Recorded { side, verdict, .. } | Line::Judged { side, verdict } => {
                let verdict = verdict.map(|verdict| batch.keep(verdict));
                (side, Duration::ZERO, Content::Judged(verdict))
            }
            // Without a verdict, the gateway found nothing.
            Line::Record { side, time, .. } if is_recording && !is_complete => {
                (side, time, Content::Judged(None))
            }
            Line::Record { side, time, message } => {
                (side, time, Content::Message(batch.keep(message.as_bytes())))
            }
            // The partial header of a record is not that of the message in it.
            Line::BrokenRecord { side } => {
                let content = oversized.map(|_| Content::TooLong(PartialHeader::default()));
                (side, Duration::ZERO, content.unwrap_or(Content::BrokenRecord))
            }
            Line::Raw(text) => {
                let directions = &mut self.directions;
                let side = self.setup.raw_sender.unwrap_or_else(|| {
                    let directions =
                        directions.get_or_insert_with(|| Directions::new(self.setup.senders()));
                    directions.sender(text)
                });
                let content = match oversized {
                    Some(partial) => Content::TooLong(partial),
                    None => Content::Message(batch.keep(text)),
                };
                (side, Duration::ZERO, content)
            }
        };
        batch.items.push(Item { line: self.line, side, time, content });
    }

    /// Strips the byte order mark at the start of a file.
    fn clean<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.line == 1 => rest,
            _ => text,
        }
    }
}
