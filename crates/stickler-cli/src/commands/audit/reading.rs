//! The reading half of an audit: from bytes to messages with a sender, in batches.
//!
//! What becomes of a batch is the caller's business: it is judged at once, or by another thread.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use stickler::tape::TapeBuffer;
use stickler_protocol::Side;
use stickler_protocol::envelope::Glimpse;
use stickler_protocol::frame::Frame;

use super::Setup;
use super::direction::Directions;
use super::input;
use super::record::Line;
use crate::lines::Lines;

/// In a record a byte of a message can take six, as in `\u0000`.
const LONGEST_ESCAPE: usize = 6;
/// What a record may have beside its message.
const RECORD_MEMBERS: usize = 64 << 10;

/// What a huge message has taken is given back.
const LARGEST_SPARE: usize = 2 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The messages of one piece of a file.
#[derive(Debug, Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    pub(super) items: Vec<Item>,
    /// Lines that are records of something other than a message.
    pub(super) skipped: usize,
}

/// What is to be judged about one line.
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
    /// A message that was too long to be kept, and what was seen of it.
    TooLong(Glimpse),
    /// No message could be got out of the record.
    BrokenRecord,
}

impl Batch {
    pub(super) fn text(&self, range: &Range<usize>) -> &[u8] {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Empties a batch that has been judged, so that its memory serves again.
    pub(super) fn emptied(mut self) -> Self {
        if self.text.capacity() > LARGEST_SPARE {
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

/// Reads a file to its end. Each batch is handed over in exchange for an empty one; without one,
/// reading ends. On an error, the number of the line that could not be read, 0 for the whole file.
pub(super) fn read(
    path: &Path,
    setup: &Setup,
    mut exchange: impl FnMut(Batch) -> Option<Batch>,
) -> Result<(), (usize, io::Error)> {
    let input = input::open(path, &setup.bar).map_err(|error| (0, error))?;
    let longest = setup.config.limits.message_bytes * LONGEST_ESCAPE + RECORD_MEMBERS;
    let mut lines = Lines::new(input, longest);
    let mut reader = Reader::new(setup);
    let mut batch = Batch::default();
    while lines.fill().map_err(|error| (reader.line + 1, error))? {
        while let Some(frame) = lines.next() {
            reader.take(frame, &mut batch);
        }
        if batch.is_worth_judging() {
            match exchange(batch) {
                Some(empty) => batch = empty,
                None => break,
            }
        }
    }
    Ok(())
}

impl Batch {
    fn is_worth_judging(&self) -> bool {
        !self.items.is_empty() || self.skipped > 0
    }
}

struct Reader<'s> {
    setup: &'s Setup,
    /// For raw messages, from the first one on.
    directions: Option<Directions<'s>>,
    buffer: TapeBuffer,
    line: usize,
}

impl<'s> Reader<'s> {
    fn new(setup: &'s Setup) -> Self {
        Self { setup, directions: None, buffer: TapeBuffer::new(), line: 0 }
    }

    fn take(&mut self, frame: Frame<'_>, batch: &mut Batch) {
        self.line += 1;
        let (line, overlong) = match frame {
            Frame::Line(text) => (Line::read(self.clean(text), &mut self.buffer), None),
            Frame::TooLong { beginning, glimpse } => {
                (Line::read_beginning(self.clean(beginning)), Some(glimpse))
            }
        };
        let (side, time, content) = match line {
            Line::Remark => {
                batch.skipped += 1;
                return;
            }
            Line::Record { side, time, message } => {
                (side, time, Content::Message(batch.keep(message.as_bytes())))
            }
            // What was seen of a record is not what there was to see of the message in it.
            Line::BrokenRecord { side } => {
                let content = overlong.map(|_| Content::TooLong(Glimpse::default()));
                (side, Duration::ZERO, content.unwrap_or(Content::BrokenRecord))
            }
            Line::Raw(text) => {
                let directions = &mut self.directions;
                let side = self.setup.raw_sender.unwrap_or_else(|| {
                    let directions =
                        directions.get_or_insert_with(|| Directions::new(self.setup.senders()));
                    directions.sender(text)
                });
                let content = match overlong {
                    Some(glimpse) => Content::TooLong(glimpse),
                    None => Content::Message(batch.keep(text)),
                };
                (side, Duration::ZERO, content)
            }
        };
        batch.items.push(Item { line: self.line, side, time, content });
    }

    /// A file, unlike a message, may begin with a byte order mark.
    fn clean<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.line == 1 => rest,
            _ => text,
        }
    }
}
