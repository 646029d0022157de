//! The parser: one pass over the bytes without recursion, so that nesting cannot overflow the stack.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

use super::duplicate_keys;
use super::open_container::OpenContainer;
use super::syntax_error::{SyntaxError, SyntaxErrorKind};
use super::token::Token;
use super::window::Window;
use super::{Kind, TapeBuffer, number, string};

/// Parses a text into the tokens of a buffer.
///
/// The current offset is passed between functions instead of being a field, so that it stays in a
/// register; this saves a third of the time. The same applies to `current`, the innermost array or object;
/// the outer ones are in the buffer. A function that is not inlined must not take a reference to `current`:
/// it would be spilled to memory with several partial writes and read back as a whole, which stalls store
/// forwarding.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    tokens: Vec<Token>,
    buffer: &'a mut TapeBuffer,
    max_depth: usize,
    window: Window,
}

/// Parses the whole text.
pub(super) fn scan(
    bytes: &[u8],
    buffer: &mut TapeBuffer,
    max_depth: usize,
) -> Result<(), SyntaxError> {
    // Offsets and counts have 28 to 32 bits. The message size limit is far below that.
    if bytes.len() >= (1 << 28) {
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 1 << 28));
    }
    let mut tokens = std::mem::take(&mut buffer.tokens);
    tokens.clear();
    let mut scanner = Scanner { bytes, tokens, buffer, max_depth, window: Window::EMPTY };
    let outcome = scanner.run();
    let Scanner { tokens, buffer, .. } = scanner;
    buffer.tokens = tokens;
    outcome
}

impl Scanner<'_> {
    /// Each iteration parses a value, preceded by its key in an object, and the closing characters after it.
    fn run(&mut self) -> Result<(), SyntaxError> {
        let mut at = 0;
        let mut current = OpenContainer::TEXT;
        loop {
            if current.is_object() {
                at = self.key(&mut current, at)?;
            }
            let (start, byte) = self.peek(at)?;
            let end = match byte {
                b'"' => self.string(start)?.0 + 1,
                b'{' | b'[' => match self.open(&mut current, start, byte)? {
                    (content, false) => {
                        at = content;
                        continue;
                    }
                    (end, true) => end,
                },
                byte => self.scalar(start, byte)?,
            };
            match self.after_value(&mut current, end)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// Closes the arrays and objects that end here. Returns the offset after the comma, or `None` at the end.
    #[inline(always)]
    fn after_value(
        &mut self,
        current: &mut OpenContainer,
        mut at: usize,
    ) -> Result<Option<usize>, SyntaxError> {
        loop {
            if current.is_text() {
                return self.end(at).map(|()| None);
            }
            current.info.increment_count();
            let (position, byte) = self.peek(at)?;
            at = position + 1;
            if byte == b',' {
                return Ok(Some(at));
            }
            if byte != current.closer() {
                return Err(expected_comma(current.is_object(), position));
            }
            self.close(current, at);
        }
    }

    fn end(&self, at: usize) -> Result<(), SyntaxError> {
        let at = skip_whitespace(self.bytes, at);
        if at < self.bytes.len() {
            return Err(error(SyntaxErrorKind::TrailingCharacters, at));
        }
        Ok(())
    }

    /// Parses a number or literal.
    #[inline(always)]
    fn scalar(&mut self, at: usize, byte: u8) -> Result<usize, SyntaxError> {
        match byte {
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.literal(at, b"true", Kind::Boolean, true),
            b'f' => self.literal(at, b"false", Kind::Boolean, false),
            b'n' => self.literal(at, b"null", Kind::Null, false),
            _ => Err(error(SyntaxErrorKind::ExpectedValue, at)),
        }
    }

    /// Parses a member name and the colon after it.
    #[inline(always)]
    fn key(&mut self, current: &mut OpenContainer, at: usize) -> Result<usize, SyntaxError> {
        let (start, byte) = self.peek(at)?;
        if byte != b'"' {
            return Err(error(SyntaxErrorKind::ExpectedKey, start));
        }
        let (end, escaped) = self.string(start)?;
        self.add_key(current, start + 1, end, escaped);
        let (colon, byte) = self.peek(end + 1)?;
        if byte != b':' {
            return Err(error(SyntaxErrorKind::ExpectedColon, colon));
        }
        Ok(colon + 1)
    }

    /// Opens an array or object. Returns the offset to continue at, and whether it was empty and is closed.
    #[inline(always)]
    fn open(
        &mut self,
        current: &mut OpenContainer,
        at: usize,
        opener: u8,
    ) -> Result<(usize, bool), SyntaxError> {
        if self.buffer.open.len() >= self.max_depth {
            return Err(error(SyntaxErrorKind::TooDeep, at));
        }
        // The ASCII codes of `{` and `}`, and of `[` and `]`, differ by two.
        let closer = opener + 2;
        let index = narrow(self.tokens.len());
        let kind = if closer == b'}' { Kind::Object } else { Kind::Array };
        self.push(kind, false, at, at);
        self.buffer.open.push(*current);
        *current = OpenContainer::new(index, kind);
        let (position, byte) = self.peek(at + 1)?;
        if byte != closer {
            return Ok((position, false));
        }
        self.close(current, position + 1);
        Ok((position + 1, true))
    }

    /// Closes the current array or object, which ends before offset `end`.
    #[inline(always)]
    fn close(&mut self, current: &mut OpenContainer, end: usize) {
        let next = narrow(self.tokens.len());
        if current.needs_duplicate_check() {
            let has_duplicates = self.record_duplicates(current.index);
            current.info.set_flag(has_duplicates);
        }
        if let Some(token) = self.tokens.get_mut(current.index as usize) {
            token.close(narrow(end), next, current.info);
        }
        *current = self.buffer.open.pop().unwrap_or(OpenContainer::TEXT);
    }

    /// Compares all keys of a complete object and records the duplicates. Returns whether there are any.
    #[cold]
    fn record_duplicates(&mut self, object: u32) -> bool {
        let overridden = duplicate_keys::overridden(&self.tokens, self.bytes, object);
        let has_duplicates = !overridden.is_empty();
        self.buffer.overridden.extend(overridden);
        has_duplicates
    }

    #[inline(always)]
    fn add_key(&mut self, current: &mut OpenContainer, start: usize, end: usize, escaped: bool) {
        if current.add_key(self.bytes, start, end, escaped) {
            let count = current.info.count();
            let is_duplicate = self.is_duplicate(current.index, count, start, end);
            current.info.set_flag(is_duplicate);
        }
    }

    /// Compares a key with the earlier keys of its object and records the one that it repeats.
    #[inline(never)]
    fn is_duplicate(&mut self, object: u32, count: u32, start: usize, end: usize) -> bool {
        let key = self.bytes.get(start..end).unwrap_or_default();
        let earlier = duplicate_keys::last_equal(&self.tokens, self.bytes, object, count, key);
        self.buffer.overridden.extend(earlier);
        earlier.is_some()
    }

    /// Parses a string. Returns the offset of the closing quote and whether the string has escapes.
    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<(usize, bool), SyntaxError> {
        let string::Scanned { end, escaped, non_ascii } =
            self.window.string(self.bytes, at + 1).map_err(|(kind, offset)| error(kind, offset))?;
        if non_ascii {
            self.check_utf8(at + 1, end)?;
        }
        self.push(Kind::String, escaped, at + 1, end);
        Ok((end, escaped))
    }

    /// Checks the UTF-8 encoding of a string. The grammar allows only ASCII outside strings.
    fn check_utf8(&self, start: usize, end: usize) -> Result<(), SyntaxError> {
        let text = self.bytes.get(start..end).unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok(_) => Ok(()),
            Err(invalid) => Err(error(SyntaxErrorKind::NotUtf8, start + invalid.valid_up_to())),
        }
    }

    fn number(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let (end, fractional) = number::scan(self.bytes, at)
            .map_err(|offset| error(SyntaxErrorKind::BadNumber, offset))?;
        if number::overflows(self.bytes, at, end, fractional) {
            self.buffer.oversized.push(narrow(self.tokens.len()));
        }
        self.push(Kind::Number, fractional, at, end);
        Ok(end)
    }

    #[inline(always)]
    fn literal(
        &mut self,
        at: usize,
        word: &[u8],
        kind: Kind,
        flag: bool,
    ) -> Result<usize, SyntaxError> {
        let end = at + word.len();
        if self.bytes.get(at..end) != Some(word) {
            return Err(error(SyntaxErrorKind::ExpectedValue, at));
        }
        self.push(kind, flag, at, end);
        Ok(end)
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, flag: bool, start: usize, end: usize) {
        let next = narrow(self.tokens.len() + 1);
        self.tokens.push(Token::new(kind, flag, narrow(start), narrow(end), next));
    }

    /// Returns the next character that is not whitespace, and its offset.
    #[inline(always)]
    fn peek(&self, at: usize) -> Result<(usize, u8), SyntaxError> {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => Ok((at, byte)),
            _ => {
                let at = skip_whitespace(self.bytes, at);
                let byte = self.bytes.get(at).copied();
                byte.map(|byte| (at, byte)).ok_or_else(|| error(SyntaxErrorKind::UnexpectedEnd, at))
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
fn expected_comma(in_object: bool, at: usize) -> SyntaxError {
    let brace = SyntaxErrorKind::ExpectedCommaOrBrace;
    error(if in_object { brace } else { SyntaxErrorKind::ExpectedCommaOrBracket }, at)
}

#[cold]
fn error(kind: SyntaxErrorKind, at: usize) -> SyntaxError {
    SyntaxError::new(kind, at)
}

/// Cannot truncate: [`scan`] limits the length of the text.
#[allow(clippy::cast_possible_truncation)]
fn narrow(offset: usize) -> u32 {
    offset as u32
}
