//! A token: the type of a value, its byte range, and the index of the next value.

use super::Kind;

/// A token of 16 bytes. The token of an array or object precedes the tokens of its content; the content of
/// an object alternates between keys and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// Byte offset of the first character; for a string, of the first one after the opening quote.
    pub(super) start: u32,
    /// Byte offset after the last character; for a string, of the closing quote.
    pub(super) end: u32,
    /// Index of the token after this value and its content.
    pub(super) next: u32,
    info: Info,
}

impl Token {
    /// Returned for an index past the end of the tape.
    pub(super) const NULL: Self =
        Self { start: 0, end: 0, next: 1, info: Info::new(Kind::Null, false) };

    pub(super) fn new(kind: Kind, flag: bool, start: u32, end: u32, next: u32) -> Self {
        Self { start, end, next, info: Info::new(kind, flag) }
    }

    pub(super) fn kind(self) -> Kind {
        self.info.kind()
    }

    /// True for a string with escapes, a number with a fraction or exponent, `true`, and an object with
    /// duplicate keys.
    pub(super) fn flag(self) -> bool {
        self.info.flag()
    }

    pub(super) fn count(self) -> u32 {
        self.info.count()
    }

    pub(super) fn close(&mut self, end: u32, next: u32, info: Info) {
        self.end = end;
        self.next = next;
        self.info = info;
    }
}

/// Three bits for the type, a flag, a mark that only the parser uses, and the number of members or
/// elements. A text is shorter than 2²⁸ bytes, so 27 bits are sufficient for the count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Info(u32);

const KIND_BITS: u32 = 0b111;
const FLAG: u32 = 1 << 3;
const MARK: u32 = 1 << 4;
const COUNT_SHIFT: u32 = 5;

impl Info {
    pub(super) const fn new(kind: Kind, flag: bool) -> Self {
        Self(kind as u32 | if flag { FLAG } else { 0 })
    }

    pub(super) fn kind(self) -> Kind {
        match self.0 & KIND_BITS {
            1 => Kind::Boolean,
            2 => Kind::Number,
            3 => Kind::String,
            4 => Kind::Array,
            5 => Kind::Object,
            _ => Kind::Null,
        }
    }

    pub(super) fn flag(self) -> bool {
        self.0 & FLAG != 0
    }

    pub(super) fn set_flag(&mut self, flag: bool) {
        self.0 |= if flag { FLAG } else { 0 };
    }

    pub(super) fn mark(self) -> bool {
        self.0 & MARK != 0
    }

    pub(super) fn set_mark(&mut self, mark: bool) {
        self.0 |= if mark { MARK } else { 0 };
    }

    pub(super) fn count(self) -> u32 {
        self.0 >> COUNT_SHIFT
    }

    pub(super) fn increment_count(&mut self) {
        self.0 = self.0.wrapping_add(1 << COUNT_SHIFT);
    }
}
