//! The reader: one pass over the bytes, no recursion, so that depth is a number and not a stack.

use super::fault::{SyntaxError, SyntaxErrorKind};
use super::keys::{self, KeyFilter};
use super::token::Token;
use super::{Kind, TapeBuffer, number, string};

/// An array or object whose end has not been seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    index: u32,
    count: u32,
    is_object: bool,
    keys: KeyFilter,
}

pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
    buffer: &'a mut TapeBuffer,
    max_depth: usize,
}

/// What the grammar allows at this point.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    CommaOrClose,
    End,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        buffer: &'a mut TapeBuffer,
        max_depth: usize,
    ) -> Result<Self, SyntaxError> {
        // Offsets and counts are 28 to 32 bits wide; no sane limit lets a text get near.
        if bytes.len() >= (1 << 28) {
            return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 1 << 28));
        }
        Ok(Self { bytes, position: 0, buffer, max_depth })
    }

    pub(super) fn run(mut self) -> Result<(), SyntaxError> {
        let mut expect = Expect::Value;
        loop {
            self.skip_whitespace();
            let Some(byte) = self.peek() else {
                return match expect {
                    Expect::End => Ok(()),
                    _ => Err(self.fault(SyntaxErrorKind::UnexpectedEnd)),
                };
            };
            expect = match (expect, byte) {
                (Expect::KeyOrClose, b'}') | (Expect::ValueOrClose, b']') => self.close(),
                (Expect::Key | Expect::KeyOrClose, _) => self.key(byte)?,
                (Expect::Value | Expect::ValueOrClose, _) => self.value(byte)?,
                (Expect::CommaOrClose, _) => self.separator(byte)?,
                (Expect::End, _) => return Err(self.fault(SyntaxErrorKind::TrailingCharacters)),
            };
        }
    }

    fn value(&mut self, byte: u8) -> Result<Expect, SyntaxError> {
        match byte {
            b'"' => {
                let (start, end, escaped) = self.string()?;
                self.push(Kind::String, escaped, start, end);
            }
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'-' | b'0'..=b'9' => {
                let start = self.position;
                let (end, fractional) = number::scan(self.bytes, start)
                    .map_err(|offset| SyntaxError::new(SyntaxErrorKind::BadNumber, offset))?;
                self.position = end;
                self.push(Kind::Number, fractional, start, end);
                if number::overflows(self.bytes, start, end, fractional) {
                    self.buffer.oversized.push(narrow(self.buffer.tokens.len() - 1));
                }
            }
            b't' => self.literal(b"true", Kind::Boolean, true)?,
            b'f' => self.literal(b"false", Kind::Boolean, false)?,
            b'n' => self.literal(b"null", Kind::Null, false)?,
            _ => return Err(self.fault(SyntaxErrorKind::ExpectedValue)),
        }
        Ok(self.after_value())
    }

    fn key(&mut self, byte: u8) -> Result<Expect, SyntaxError> {
        if byte != b'"' {
            return Err(self.fault(SyntaxErrorKind::ExpectedKey));
        }
        let (start, end, escaped) = self.string()?;
        self.push(Kind::String, escaped, start, end);
        self.note_key(start, end, escaped);
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.fault(SyntaxErrorKind::ExpectedColon));
        }
        self.position += 1;
        Ok(Expect::Value)
    }

    fn separator(&mut self, byte: u8) -> Result<Expect, SyntaxError> {
        let is_object = self.buffer.open.last().is_some_and(|open| open.is_object);
        match (byte, is_object) {
            (b',', true) => {
                self.position += 1;
                Ok(Expect::Key)
            }
            (b',', false) => {
                self.position += 1;
                Ok(Expect::Value)
            }
            (b'}', true) | (b']', false) => Ok(self.close()),
            (_, true) => Err(self.fault(SyntaxErrorKind::ExpectedCommaOrBrace)),
            (_, false) => Err(self.fault(SyntaxErrorKind::ExpectedCommaOrBracket)),
        }
    }

    fn open(&mut self, is_object: bool) -> Result<Expect, SyntaxError> {
        if self.buffer.open.len() >= self.max_depth {
            return Err(self.fault(SyntaxErrorKind::TooDeep));
        }
        let index = narrow(self.buffer.tokens.len());
        let kind = if is_object { Kind::Object } else { Kind::Array };
        self.push(kind, false, self.position, self.position);
        self.buffer.open.push(Open { index, count: 0, is_object, keys: KeyFilter::default() });
        self.position += 1;
        Ok(if is_object { Expect::KeyOrClose } else { Expect::ValueOrClose })
    }

    fn close(&mut self) -> Expect {
        self.position += 1;
        let end = narrow(self.position);
        let next = narrow(self.buffer.tokens.len());
        if let Some(open) = self.buffer.open.pop() {
            let repeated = open.is_object
                && open.keys.wants_look_at_close(open.count)
                && keys::note_duplicates(self.buffer, self.bytes, open.index, next);
            let duplicates = repeated || open.keys.found();
            if let Some(token) = self.buffer.tokens.get_mut(open.index as usize) {
                token.close(end, next, open.count, duplicates);
            }
        }
        self.after_value()
    }

    fn after_value(&mut self) -> Expect {
        match self.buffer.open.last_mut() {
            Some(open) => {
                open.count += 1;
                Expect::CommaOrClose
            }
            None => Expect::End,
        }
    }

    fn note_key(&mut self, start: usize, end: usize, escaped: bool) {
        let Some(open) = self.buffer.open.last_mut() else {
            return;
        };
        let key = self.bytes.get(start..end).unwrap_or_default();
        if open.keys.may_repeat(key, escaped, open.count) {
            let (object, count) = (open.index, open.count);
            let earlier = keys::last_equal(&self.buffer.tokens, self.bytes, object, count, key);
            if let Some(earlier) = earlier {
                self.buffer.duplicates.push(earlier);
                if let Some(open) = self.buffer.open.last_mut() {
                    open.keys.set_found();
                }
            }
        }
    }

    fn string(&mut self) -> Result<(usize, usize, bool), SyntaxError> {
        let start = self.position + 1;
        let (end, escaped) = string::scan(self.bytes, start)
            .map_err(|(kind, offset)| SyntaxError::new(kind, offset))?;
        self.position = end + 1;
        Ok((start, end, escaped))
    }

    fn literal(&mut self, word: &[u8], kind: Kind, flag: bool) -> Result<(), SyntaxError> {
        let end = self.position + word.len();
        if self.bytes.get(self.position..end) != Some(word) {
            return Err(self.fault(SyntaxErrorKind::ExpectedValue));
        }
        self.push(kind, flag, self.position, end);
        self.position = end;
        Ok(())
    }

    fn push(&mut self, kind: Kind, flag: bool, start: usize, end: usize) {
        let next = narrow(self.buffer.tokens.len() + 1);
        self.buffer.tokens.push(Token::new(kind, flag, narrow(start), narrow(end), next));
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.position += 1;
        }
    }

    fn fault(&self, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError::new(kind, self.position)
    }
}

/// The length was checked once, in [`Scanner::new`].
#[allow(clippy::cast_possible_truncation)]
fn narrow(offset: usize) -> u32 {
    offset as u32
}
