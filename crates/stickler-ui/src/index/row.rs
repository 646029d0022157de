//! A row of the timeline: one exchange in 40 bytes, so that millions of them fit in memory.
//!
//! A row holds where its messages are on disk, not the messages.

/// Where a record begins: the segment of the session, and the offset in its uncompressed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place(u64);

const OFFSET_BITS: u32 = 48;

impl Place {
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) fn new(segment: u16, offset: u64) -> Self {
        Self(u64::from(segment) << OFFSET_BITS | (offset & ((1 << OFFSET_BITS) - 1)))
    }

    pub(crate) fn segment(self) -> usize {
        usize::try_from(self.0 >> OFFSET_BITS).unwrap_or(usize::MAX)
    }

    pub(crate) fn offset(self) -> u64 {
        self.0 & ((1 << OFFSET_BITS) - 1)
    }

    pub(crate) fn exists(self) -> bool {
        self != Self::NONE
    }
}

/// What happened to an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A request without a response yet.
    Pending,
    Passed,
    /// Passed with a warning.
    Noted,
    Repaired,
    Rejected,
    /// Recorded without enforcement: enforcement would reject it.
    WouldReject,
    ServerError,
    /// Not a message.
    Noise,
}

impl Outcome {
    pub(crate) const ALL: [Self; 8] = [
        Self::Pending,
        Self::Passed,
        Self::Noted,
        Self::Repaired,
        Self::Rejected,
        Self::WouldReject,
        Self::ServerError,
        Self::Noise,
    ];

    /// The name in filters and in the interface of the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Passed => "passed",
            Self::Noted => "noted",
            Self::Repaired => "repaired",
            Self::Rejected => "rejected",
            Self::WouldReject => "would-reject",
            Self::ServerError => "server-error",
            Self::Noise => "noise",
        }
    }

    /// Whether a caller probably corrects and repeats such a call.
    pub(crate) fn invites_retry(self) -> bool {
        matches!(self, Self::Rejected | Self::WouldReject)
    }
}

/// One exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) request: Place,
    pub(crate) response: Place,
    /// Since the start of the session.
    pub(crate) milliseconds: u32,
    /// Until the response; [`Row::NO_DURATION`] if there is none.
    pub(crate) duration_us: u32,
    /// Size of the messages.
    pub(crate) bytes: u32,
    /// First row of the thread of retries; the row itself if it is not a retry.
    pub(crate) thread: u32,
    /// Index of the method or tool in the session's names.
    pub(crate) label: u16,
    tokens: u16,
    pub(crate) outcome: Outcome,
    /// Index of the rule in the session's rules; 0 if there is none.
    pub(crate) rule: u8,
    pub(crate) flags: Flags,
}

impl Row {
    pub(crate) const NO_DURATION: u32 = u32::MAX;

    pub(crate) fn new(request: Place, index: u32) -> Self {
        Self {
            request,
            response: Place::NONE,
            milliseconds: 0,
            duration_us: Self::NO_DURATION,
            bytes: 0,
            thread: index,
            label: 0,
            tokens: 0,
            outcome: Outcome::Passed,
            rule: 0,
            flags: Flags::default(),
        }
    }

    /// Estimated tokens; above 32,767 in steps of 64.
    pub(crate) fn tokens(&self) -> u32 {
        match self.tokens {
            small @ 0..0x8000 => u32::from(small),
            large => u32::from(large & 0x7fff) * 64,
        }
    }

    pub(crate) fn add_tokens(&mut self, tokens: u32) {
        let total = self.tokens().saturating_add(tokens);
        self.tokens = match u16::try_from(total) {
            Ok(small @ 0..0x8000) => small,
            _ => 0x8000 | u16::try_from(total / 64).unwrap_or(0x7fff).min(0x7fff),
        };
    }
}

/// Properties of a row that are true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Sent by the server.
    pub(crate) const FROM_SERVER: Self = Self(1);
    /// Made by the gateway, not by a peer.
    pub(crate) const GATEWAY: Self = Self(2);
    /// Values were replaced.
    pub(crate) const REDACTED: Self = Self(4);
    /// A `tools/call`.
    pub(crate) const CALL: Self = Self(8);
    /// A notification.
    pub(crate) const NOTIFICATION: Self = Self(16);
    /// Has retries.
    pub(crate) const HAS_RETRIES: Self = Self(32);
    /// The verdict was computed by the page, not recorded.
    pub(crate) const CHECKED_HERE: Self = Self(64);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn set(&mut self, other: Self, value: bool) {
        if value {
            self.0 |= other.0;
        }
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }
}

/// Rows in blocks, so that growth never copies them.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    blocks: Vec<Vec<Row>>,
    len: u32,
}

const BLOCK_ROWS: usize = 4096;

impl Rows {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the index of the new row; `None` if no more rows can be numbered.
    pub(crate) fn push(&mut self, row: Row) -> Option<u32> {
        let index = self.len;
        self.len = index.checked_add(1)?;
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK_ROWS => block.push(row),
            Some(_) => {
                let mut block = Vec::with_capacity(BLOCK_ROWS);
                block.push(row);
                self.blocks.push(block);
            }
            // Most sessions are short.
            None => self.blocks.push(vec![row]),
        }
        Some(index)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&Row> {
        let index = usize::try_from(index).ok()?;
        self.blocks.get(index / BLOCK_ROWS)?.get(index % BLOCK_ROWS)
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Row> {
        let index = usize::try_from(index).ok()?;
        self.blocks.get_mut(index / BLOCK_ROWS)?.get_mut(index % BLOCK_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Row, Rows};

    #[test]
    fn row_takes_forty_bytes() {
        assert_eq!(size_of::<Row>(), 40);
    }

    #[test]
    fn place_keeps_segment_and_offset() {
        let place = Place::new(7, 123_456_789_012);
        assert_eq!((place.segment(), place.offset()), (7, 123_456_789_012));
        assert!(place.exists() && !Place::NONE.exists());
    }

    #[test]
    fn tokens_of_large_messages_are_rounded() {
        let mut row = Row::new(Place::NONE, 0);
        row.add_tokens(32_000);
        assert_eq!(row.tokens(), 32_000);
        row.add_tokens(68_000);
        assert_eq!(row.tokens(), 99_968);
        row.add_tokens(u32::MAX);
        assert_eq!(row.tokens(), 0x7fff * 64);
    }

    #[test]
    fn rows_are_found_across_blocks() {
        let mut rows = Rows::default();
        for index in 0..10_000 {
            assert_eq!(rows.push(Row::new(Place::new(0, u64::from(index)), index)), Some(index));
        }
        assert_eq!(rows.get(9_999).unwrap().request.offset(), 9_999);
        assert!(rows.get(10_000).is_none());
    }
}
