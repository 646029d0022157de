//! The reader: one pass over the bytes, no recursion, so that depth is a number and not a stack.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

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

/// Reads a text into the buffer's tokens.
///
/// Where it stands is passed from function to function instead of being kept in a field: so it
/// stays in a register, which is a third of the speed.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    tokens: Vec<Token>,
    buffer: &'a mut TapeBuffer,
    max_depth: usize,
    /// The innermost array or object; those around it are in the buffer.
    current: Option<Open>,
}

/// Where to go on.
enum Next {
    /// A value begins here.
    Value(usize),
    /// A value has ended here.
    AfterValue(usize),
}

/// Reads the whole text.
pub(super) fn scan(
    bytes: &[u8],
    buffer: &mut TapeBuffer,
    max_depth: usize,
) -> Result<(), SyntaxError> {
    // Offsets and counts are 28 to 32 bits wide; no sane limit lets a text get near.
    if bytes.len() >= (1 << 28) {
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 1 << 28));
    }
    let mut tokens = std::mem::take(&mut buffer.tokens);
    tokens.clear();
    let mut scanner = Scanner { bytes, tokens, buffer, max_depth, current: None };
    let outcome = scanner.run();
    let Scanner { tokens, buffer, .. } = scanner;
    buffer.tokens = tokens;
    outcome
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        let mut at = 0;
        loop {
            let (start, byte) = self.peek(at)?;
            let next = match byte {
                b'"' => Next::AfterValue(self.string(start)?.0 + 1),
                b'{' => self.open(start, true)?,
                b'[' => self.open(start, false)?,
                byte => Next::AfterValue(self.scalar(start, byte)?),
            };
            at = match next {
                Next::Value(at) => at,
                Next::AfterValue(end) => match self.after_value(end)? {
                    Next::Value(at) => at,
                    Next::AfterValue(end) => return self.end(end),
                },
            };
        }
    }

    /// Closes what ends here and goes on to where the next value begins, if there is one.
    #[inline(always)]
    fn after_value(&mut self, mut at: usize) -> Result<Next, SyntaxError> {
        loop {
            let Some(current) = &mut self.current else { return Ok(Next::AfterValue(at)) };
            current.count += 1;
            let is_object = current.is_object;
            let (place, byte) = self.peek(at)?;
            match (byte, is_object) {
                (b',', true) => return self.key(place + 1).map(Next::Value),
                (b',', false) => return Ok(Next::Value(place + 1)),
                (b'}', true) | (b']', false) => at = self.close(place),
                (_, true) => return Err(fault(SyntaxErrorKind::ExpectedCommaOrBrace, place)),
                (_, false) => return Err(fault(SyntaxErrorKind::ExpectedCommaOrBracket, place)),
            }
        }
    }

    fn end(&self, at: usize) -> Result<(), SyntaxError> {
        let at = skip_whitespace(self.bytes, at);
        if at < self.bytes.len() {
            return Err(fault(SyntaxErrorKind::TrailingCharacters, at));
        }
        Ok(())
    }

    /// Anything but a string.
    #[inline(always)]
    fn scalar(&mut self, at: usize, byte: u8) -> Result<usize, SyntaxError> {
        match byte {
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.literal(at, b"true", Kind::Boolean, true),
            b'f' => self.literal(at, b"false", Kind::Boolean, false),
            b'n' => self.literal(at, b"null", Kind::Null, false),
            _ => Err(fault(SyntaxErrorKind::ExpectedValue, at)),
        }
    }

    /// A member name and the colon after it.
    #[inline(always)]
    fn key(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let (start, byte) = self.peek(at)?;
        if byte != b'"' {
            return Err(fault(SyntaxErrorKind::ExpectedKey, start));
        }
        let (end, escaped) = self.string(start)?;
        self.note_key(start + 1, end, escaped);
        let (colon, byte) = self.peek(end + 1)?;
        if byte != b':' {
            return Err(fault(SyntaxErrorKind::ExpectedColon, colon));
        }
        Ok(colon + 1)
    }

    /// Begins an array or object, which ends at once when it is empty.
    fn open(&mut self, at: usize, is_object: bool) -> Result<Next, SyntaxError> {
        if self.buffer.open.len() + usize::from(self.current.is_some()) >= self.max_depth {
            return Err(fault(SyntaxErrorKind::TooDeep, at));
        }
        let index = narrow(self.tokens.len());
        self.push(if is_object { Kind::Object } else { Kind::Array }, false, at, at);
        let keys = KeyFilter::default();
        let around = self.current.replace(Open { index, count: 0, is_object, keys });
        self.buffer.open.extend(around);
        let (place, byte) = self.peek(at + 1)?;
        match (byte, is_object) {
            (b'}', true) | (b']', false) => Ok(Next::AfterValue(self.close(place))),
            (_, true) => self.key(place).map(Next::Value),
            (_, false) => Ok(Next::Value(place)),
        }
    }

    fn close(&mut self, at: usize) -> usize {
        let end = at + 1;
        let next = narrow(self.tokens.len());
        let Some(open) = self.current.take() else { return end };
        self.current = self.buffer.open.pop();
        let mut repeats = open.keys.found();
        if open.is_object && open.keys.wants_look_at_close(open.count) {
            let overridden = keys::overridden(&self.tokens, self.bytes, open.index);
            repeats |= !overridden.is_empty();
            self.buffer.overridden.extend(overridden);
        }
        if let Some(token) = self.tokens.get_mut(open.index as usize) {
            token.close(narrow(end), next, open.count, repeats);
        }
        end
    }

    #[inline(always)]
    fn note_key(&mut self, start: usize, end: usize, escaped: bool) {
        let Some(open) = &mut self.current else { return };
        let key = self.bytes.get(start..end).unwrap_or_default();
        if open.keys.may_repeat(key, escaped, open.count) {
            let (object, count) = (open.index, open.count);
            if let Some(earlier) = keys::last_equal(&self.tokens, self.bytes, object, count, key) {
                self.buffer.overridden.push(earlier);
                open.keys.set_found();
            }
        }
    }

    /// A string and its token: where the closing quote is, and whether there are escapes.
    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<(usize, bool), SyntaxError> {
        let string::Scanned { end, escaped, beyond_ascii } =
            string::scan(self.bytes, at + 1).map_err(|(kind, offset)| fault(kind, offset))?;
        if beyond_ascii {
            self.check_utf8(at + 1, end)?;
        }
        self.push(Kind::String, escaped, at + 1, end);
        Ok((end, escaped))
    }

    /// Only strings can hold anything beyond ASCII, so nothing else has to be checked.
    fn check_utf8(&self, start: usize, end: usize) -> Result<(), SyntaxError> {
        let text = self.bytes.get(start..end).unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(fault(SyntaxErrorKind::NotUtf8, start + error.valid_up_to())),
        }
    }

    fn number(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let (end, fractional) = number::scan(self.bytes, at)
            .map_err(|offset| fault(SyntaxErrorKind::BadNumber, offset))?;
        if number::overflows(self.bytes, at, end, fractional) {
            self.buffer.oversized.push(narrow(self.tokens.len()));
        }
        self.push(Kind::Number, fractional, at, end);
        Ok(end)
    }

    fn literal(
        &mut self,
        at: usize,
        word: &[u8],
        kind: Kind,
        flag: bool,
    ) -> Result<usize, SyntaxError> {
        let end = at + word.len();
        if self.bytes.get(at..end) != Some(word) {
            return Err(fault(SyntaxErrorKind::ExpectedValue, at));
        }
        self.push(kind, flag, at, end);
        Ok(end)
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, flag: bool, start: usize, end: usize) {
        let next = narrow(self.tokens.len() + 1);
        self.tokens.push(Token::new(kind, flag, narrow(start), narrow(end), next));
    }

    /// The next character that is not whitespace, and where it is.
    #[inline(always)]
    fn peek(&self, at: usize) -> Result<(usize, u8), SyntaxError> {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => Ok((at, byte)),
            _ => {
                let at = skip_whitespace(self.bytes, at);
                let byte = self.bytes.get(at).copied();
                byte.map(|byte| (at, byte)).ok_or_else(|| fault(SyntaxErrorKind::UnexpectedEnd, at))
            }
        }
    }
}

fn skip_whitespace(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let run = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    at + run.count()
}

#[cold]
fn fault(kind: SyntaxErrorKind, at: usize) -> SyntaxError {
    SyntaxError::new(kind, at)
}

/// The length was checked once, in [`scan`].
#[allow(clippy::cast_possible_truncation)]
fn narrow(offset: usize) -> u32 {
    offset as u32
}
