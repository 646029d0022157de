//! The reader: one pass over the bytes, no recursion, so that depth is a number and not a stack.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

use super::fault::{SyntaxError, SyntaxErrorKind};
use super::keys;
use super::open::Open;
use super::token::Token;
use super::window::Window;
use super::{Kind, TapeBuffer, number, string};

/// Reads a text into the buffer's tokens.
///
/// Where it stands is passed from function to function instead of being kept in a field: so it
/// stays in a register, which is a third of the speed. The same goes for the innermost array or
/// object, `current`; those around it are in the buffer. No function that is not inlined may have a
/// reference to it: in memory it would be written in parts and read as a whole, and processors wait
/// for that.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    tokens: Vec<Token>,
    buffer: &'a mut TapeBuffer,
    max_depth: usize,
    window: Window,
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
    let mut scanner = Scanner { bytes, tokens, buffer, max_depth, window: Window::NEW };
    let outcome = scanner.run();
    let Scanner { tokens, buffer, .. } = scanner;
    buffer.tokens = tokens;
    outcome
}

impl Scanner<'_> {
    /// Each turn reads a value, with its key inside an object, and whatever ends after it.
    fn run(&mut self) -> Result<(), SyntaxError> {
        let mut at = 0;
        let mut current = Open::TEXT;
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

    /// Closes what ends here and goes on to what is after the comma, if there is one.
    #[inline(always)]
    fn after_value(
        &mut self,
        current: &mut Open,
        mut at: usize,
    ) -> Result<Option<usize>, SyntaxError> {
        loop {
            if current.is_text() {
                return self.end(at).map(|()| None);
            }
            current.info.count_one_more();
            let (place, byte) = self.peek(at)?;
            at = place + 1;
            if byte == b',' {
                return Ok(Some(at));
            }
            if byte != current.closer() {
                return Err(expected_comma(current.is_object(), place));
            }
            self.close(current, at);
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
    fn key(&mut self, current: &mut Open, at: usize) -> Result<usize, SyntaxError> {
        let (start, byte) = self.peek(at)?;
        if byte != b'"' {
            return Err(fault(SyntaxErrorKind::ExpectedKey, start));
        }
        let (end, escaped) = self.string(start)?;
        self.note_key(current, start + 1, end, escaped);
        let (colon, byte) = self.peek(end + 1)?;
        if byte != b':' {
            return Err(fault(SyntaxErrorKind::ExpectedColon, colon));
        }
        Ok(colon + 1)
    }

    /// Begins an array or object. Where to go on, and whether it was empty and has ended there.
    #[inline(always)]
    fn open(
        &mut self,
        current: &mut Open,
        at: usize,
        opener: u8,
    ) -> Result<(usize, bool), SyntaxError> {
        if self.buffer.open.len() >= self.max_depth {
            return Err(fault(SyntaxErrorKind::TooDeep, at));
        }
        // `{` and `}`, `[` and `]` are two apart.
        let closer = opener + 2;
        let index = narrow(self.tokens.len());
        let kind = if closer == b'}' { Kind::Object } else { Kind::Array };
        self.push(kind, false, at, at);
        self.buffer.open.push(*current);
        *current = Open::new(index, kind);
        let (place, byte) = self.peek(at + 1)?;
        if byte != closer {
            return Ok((place, false));
        }
        self.close(current, place + 1);
        Ok((place + 1, true))
    }

    /// Ends the current array or object, whose last character is before `end`.
    #[inline(always)]
    fn close(&mut self, current: &mut Open, end: usize) {
        let next = narrow(self.tokens.len());
        if current.wants_look_at_close() {
            let repeats = self.look_for_repeats(current.index);
            current.info.set_flag(repeats);
        }
        if let Some(token) = self.tokens.get_mut(current.index as usize) {
            token.close(narrow(end), next, current.info);
        }
        *current = self.buffer.open.pop().unwrap_or(Open::TEXT);
    }

    /// Compares all keys of an object that is complete.
    #[cold]
    fn look_for_repeats(&mut self, object: u32) -> bool {
        let overridden = keys::overridden(&self.tokens, self.bytes, object);
        let repeats = !overridden.is_empty();
        self.buffer.overridden.extend(overridden);
        repeats
    }

    #[inline(always)]
    fn note_key(&mut self, current: &mut Open, start: usize, end: usize, escaped: bool) {
        if current.may_repeat(self.bytes, start, end, escaped) {
            let count = current.info.count();
            let repeats = self.repeats_earlier(current.index, count, start, end);
            current.info.set_flag(repeats);
        }
    }

    /// Compares a key with those before it.
    #[inline(never)]
    fn repeats_earlier(&mut self, object: u32, count: u32, start: usize, end: usize) -> bool {
        let key = self.bytes.get(start..end).unwrap_or_default();
        let earlier = keys::last_equal(&self.tokens, self.bytes, object, count, key);
        self.buffer.overridden.extend(earlier);
        earlier.is_some()
    }

    /// A string and its token: where the closing quote is, and whether there are escapes.
    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<(usize, bool), SyntaxError> {
        let string::Scanned { end, escaped, beyond_ascii } =
            self.window.string(self.bytes, at + 1).map_err(|(kind, offset)| fault(kind, offset))?;
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
fn expected_comma(in_object: bool, at: usize) -> SyntaxError {
    let brace = SyntaxErrorKind::ExpectedCommaOrBrace;
    fault(if in_object { brace } else { SyntaxErrorKind::ExpectedCommaOrBracket }, at)
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
