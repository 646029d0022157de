//! Strings: finding their end, and decoding them when someone looks.

use std::borrow::Cow;

use super::block::{STRIDE, plain_strides};
use super::fault::SyntaxErrorKind;

/// The end of a string and what was seen on the way.
pub(super) struct Scanned {
    /// Where the closing quote is.
    pub(super) end: usize,
    /// There are escapes.
    pub(super) escaped: bool,
    /// There may be bytes beyond ASCII, which have to be checked.
    pub(super) beyond_ascii: bool,
}

/// Any string, from somewhere inside of it that is not within an escape sequence, to the closing
/// quote.
#[inline(never)]
pub(super) fn scan_any(bytes: &[u8], start: usize) -> Result<Scanned, (SyntaxErrorKind, usize)> {
    let mut end = start;
    let mut escaped = false;
    let mut beyond_ascii = false;
    loop {
        let run = plain_run(bytes.get(end..).unwrap_or_default());
        end += run.length;
        beyond_ascii |= run.beyond_ascii;
        match bytes.get(end) {
            Some(b'"') => return Ok(Scanned { end, escaped, beyond_ascii }),
            Some(b'\\') => {
                escaped = true;
                end = escape_end(bytes, end)?;
            }
            Some(_) => return Err((SyntaxErrorKind::ControlCharacter, end)),
            None => return Err((SyntaxErrorKind::UnexpectedEnd, end)),
        }
    }
}

/// Bytes before the next quote, backslash or control character.
struct Run {
    length: usize,
    /// May be said too often, because bytes are looked at together, but never too seldom.
    beyond_ascii: bool,
}

fn plain_run(bytes: &[u8]) -> Run {
    let mut length = 0;
    let mut high_bits = 0;
    loop {
        // Most strings are short: sixteen bytes at a time until it is clear that this one is not.
        for _ in 0..STRIDE / 16 {
            let Some(words) = bytes.get(length..).and_then(<[u8]>::first_chunk) else {
                let tail = plain_tail(bytes.get(length..).unwrap_or_default());
                let beyond_ascii = high_bits & HIGH_BITS != 0 || tail.beyond_ascii;
                return Run { length: length + tail.length, beyond_ascii };
            };
            let words = u128::from_le_bytes(*words);
            let (low, high) = (low_half(words), low_half(words >> 64));
            high_bits |= low | high;
            let (special_low, special_high) = (special_bytes(low), special_bytes(high));
            if special_low | special_high != 0 {
                // One number to look at instead of two keeps the branches predictable.
                let special = u128::from(special_low) | u128::from(special_high) << 64;
                length += special.trailing_zeros() as usize / 8;
                return Run { length, beyond_ascii: high_bits & HIGH_BITS != 0 };
            }
            length += 16;
        }
        length += plain_strides(bytes.get(length..).unwrap_or_default());
    }
}

#[allow(clippy::cast_possible_truncation)]
fn low_half(words: u128) -> u64 {
    words as u64
}

/// Where the text ends within the next few bytes.
#[cold]
fn plain_tail(bytes: &[u8]) -> Run {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let length = bytes.iter().position(is_special).unwrap_or(bytes.len());
    let plain = bytes.get(..length).unwrap_or_default();
    Run { length, beyond_ascii: !plain.is_ascii() }
}

const ONES: u64 = u64::MAX / 255;
const HIGH_BITS: u64 = ONES * 0x80;

/// The high bit of each byte that is a quote, a backslash or a control character. Above the lowest
/// such byte a borrow can mark others; only the lowest is looked at.
fn special_bytes(word: u64) -> u64 {
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero_in(word ^ (ONES * 0x22));
    let backslash = zero_in(word ^ (ONES * 0x5C));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & HIGH_BITS
}

/// Checks the escape sequence whose backslash is at `position`; the offset after it.
fn escape_end(bytes: &[u8], position: usize) -> Result<usize, (SyntaxErrorKind, usize)> {
    match bytes.get(position + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(position + 2),
        Some(b'u') => {
            let bad = (SyntaxErrorKind::BadEscape, position);
            code_unit(bytes, position + 2).map(|_| position + 6).ok_or(bad)
        }
        Some(_) => Err((SyntaxErrorKind::BadEscape, position)),
        None => Err((SyntaxErrorKind::UnexpectedEnd, position + 1)),
    }
}

/// The four hexadecimal digits at `position`.
fn code_unit(bytes: &[u8], position: usize) -> Option<u32> {
    bytes
        .get(position..position + 4)?
        .iter()
        .try_fold(0, |unit, &digit| char::from(digit).to_digit(16).map(|value| unit * 16 + value))
}

/// The characters that the text between two quotes stands for. The text was checked when it was
/// read. Cold, so that it stays out of the loops over members.
#[cold]
pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(position) = next {
        let (plain, escape) = rest.split_at(position);
        decoded.push_str(plain);
        let length = push_escape(&mut decoded, escape);
        rest = escape.get(length..).unwrap_or_default();
        next = next_escape(rest.as_bytes());
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Where the next backslash is. JSON within JSON has one every few bytes, so the first few are
/// looked at one by one.
fn next_escape(bytes: &[u8]) -> Option<usize> {
    const NEAR: usize = 16;
    let near = bytes.get(..NEAR).unwrap_or(bytes);
    near.iter()
        .position(|&byte| byte == b'\\')
        .or_else(|| memchr::memchr(b'\\', bytes.get(NEAR..)?).map(|position| position + NEAR))
}

/// Appends the character of the escape sequence at the beginning of `escape`; its length.
fn push_escape(decoded: &mut String, escape: &str) -> usize {
    let bytes = escape.as_bytes();
    let simple = match bytes.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let unit = code_unit(bytes, 2).unwrap_or(0xFFFD);
            if let Some(low) = low_half_of_pair(bytes).filter(|_| (0xD800..=0xDBFF).contains(&unit))
            {
                let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low & 0x3FF);
                decoded.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
                return 12;
            }
            // Half of a pair names no character.
            decoded.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            return 6;
        }
        Some(&other) => char::from(other),
        None => return 1,
    };
    decoded.push(simple);
    2
}

/// The second half of a surrogate pair, where one follows.
fn low_half_of_pair(escape: &[u8]) -> Option<u32> {
    let is_escape = escape.get(6..8) == Some(b"\\u");
    code_unit(escape, 8).filter(|low| is_escape && (0xDC00..=0xDFFF).contains(low))
}

/// `text` as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
