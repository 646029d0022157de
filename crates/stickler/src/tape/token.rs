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
    info: Info,
}

impl Token {
    /// What a look past the end of the tape sees.
    pub(super) const NULL: Self =
        Self { start: 0, end: 0, next: 1, info: Info::new(Kind::Null, false) };

    pub(super) fn new(kind: Kind, flag: bool, start: u32, end: u32, next: u32) -> Self {
        Self { start, end, next, info: Info::new(kind, flag) }
    }

    pub(super) fn kind(self) -> Kind {
        self.info.kind()
    }

    /// A string that has escapes, a number with a fraction or exponent, `true`, or an object with
    /// a repeated key.
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

/// Three bits of kind, one flag, one mark that only the reader uses, and the number of members or
/// elements. A text is shorter than 2²⁸ bytes, so 27 bits are enough to count them.
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

    pub(super) fn count_one_more(&mut self) {
        self.0 = self.0.wrapping_add(1 << COUNT_SHIFT);
    }
}
