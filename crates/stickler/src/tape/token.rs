//! One token: what it is, where it stands in the text, and where the next one begins.

use super::Kind;

/// 16 bytes. A container's token is followed by those of its content; an object's content is key,
/// value, key, value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Byte offset of the first character; for a string, of the first one inside the quotes.
    pub(super) start: u32,
    /// Byte offset after the last character; for a string, of the closing quote.
    pub(super) end: u32,
    /// Index of the token after this value, its content included.
    pub(super) next: u32,
    /// Three bits of kind, one flag, and the number of members or elements.
    info: u32,
}

const KIND_BITS: u32 = 0b111;
const FLAG: u32 = 1 << 3;
const COUNT_SHIFT: u32 = 4;

impl Token {
    /// What a look past the end of the tape sees.
    pub(super) const NULL: Self = Self { start: 0, end: 0, next: 1, info: Kind::Null as u32 };

    pub(super) fn new(kind: Kind, flag: bool, start: u32, end: u32, next: u32) -> Self {
        Self { start, end, next, info: kind as u32 | if flag { FLAG } else { 0 } }
    }

    pub(super) fn kind(self) -> Kind {
        match self.info & KIND_BITS {
            1 => Kind::Boolean,
            2 => Kind::Number,
            3 => Kind::String,
            4 => Kind::Array,
            5 => Kind::Object,
            _ => Kind::Null,
        }
    }

    /// A string that has escapes, a number with a fraction or exponent, `true`, or an object with
    /// a repeated key.
    pub(super) fn flag(self) -> bool {
        self.info & FLAG != 0
    }

    pub(super) fn count(self) -> u32 {
        self.info >> COUNT_SHIFT
    }

    pub(super) fn close(&mut self, end: u32, next: u32, count: u32, duplicates: bool) {
        self.end = end;
        self.next = next;
        self.info =
            (self.info & KIND_BITS) | if duplicates { FLAG } else { 0 } | (count << COUNT_SHIFT);
    }
}
