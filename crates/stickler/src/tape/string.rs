//! Strings: scanning during parsing, and decoding on access.

use std::borrow::Cow;

use super::block::{STRIDE, plain_strides};
use super::syntax_error::SyntaxErrorKind;

/// The end of a string and properties found while scanning.
pub(super) struct Scanned {
    /// The offset of the closing quote.
    pub(super) end: usize,
    /// Whether the string has escapes.
    pub(super) escaped: bool,
    /// Whether the string may have non-ASCII bytes, which must be checked to be valid UTF-8.
    pub(super) non_ascii: bool,
}

/// Scans any string up to its closing quote, from an offset inside the string that is not within an
/// escape sequence.
#[inline(never)]
pub(super) fn scan_any(bytes: &[u8], start: usize) -> Result<Scanned, (SyntaxErrorKind, usize)> {
    let mut end = start;
    let mut escaped = false;
    let mut non_ascii = false;
    loop {
        let run = plain_run(bytes.get(end..).unwrap_or_default());
        end += run.length;
        non_ascii |= run.non_ascii;
        match bytes.get(end) {
            Some(b'"') => return Ok(Scanned { end, escaped, non_ascii }),
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
    /// May be true for ASCII, because bytes are checked in groups; never false for non-ASCII.
    non_ascii: bool,
}

fn plain_run(bytes: &[u8]) -> Run {
    let mut length = 0;
    let mut high_bits = 0;
    loop {
        // Most strings are short: check 16 bytes at a time first, then whole strides.
        for _ in 0..STRIDE / 16 {
            let Some(words) = bytes.get(length..).and_then(<[u8]>::first_chunk) else {
                let tail = plain_tail(bytes.get(length..).unwrap_or_default());
                let non_ascii = high_bits & HIGH_BITS != 0 || tail.non_ascii;
                return Run { length: length + tail.length, non_ascii };
            };
            let words = u128::from_le_bytes(*words);
            let (low, high) = (low_half(words), low_half(words >> 64));
            high_bits |= low | high;
            let (special_low, special_high) = (special_bytes(low), special_bytes(high));
            if special_low | special_high != 0 {
                // One combined test keeps the branches predictable.
                let special = u128::from(special_low) | u128::from(special_high) << 64;
                length += special.trailing_zeros() as usize / 8;
                return Run { length, non_ascii: high_bits & HIGH_BITS != 0 };
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

/// Scans the last bytes of the text, which are fewer than 16.
#[cold]
fn plain_tail(bytes: &[u8]) -> Run {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let length = bytes.iter().position(is_special).unwrap_or(bytes.len());
    let plain = bytes.get(..length).unwrap_or_default();
    Run { length, non_ascii: !plain.is_ascii() }
}

const ONES: u64 = u64::MAX / 255;
const HIGH_BITS: u64 = ONES * 0x80;

/// Sets the high bit of each byte that is a quote, a backslash or a control character. A borrow can set
/// wrong bits above the lowest match, so callers use only the lowest.
fn special_bytes(word: u64) -> u64 {
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero_in(word ^ (ONES * 0x22));
    let backslash = zero_in(word ^ (ONES * 0x5C));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | backslash | control) & HIGH_BITS
}

/// Checks the escape sequence that begins at `position` and returns the offset after it.
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

/// Parses the four hexadecimal digits at `position`.
fn code_unit(bytes: &[u8], position: usize) -> Option<u32> {
    bytes
        .get(position..position + 4)?
        .iter()
        .try_fold(0, |unit, &digit| char::from(digit).to_digit(16).map(|value| unit * 16 + value))
}

/// Decodes the text between the quotes of a string that the scanner has accepted. Marked cold to keep it
/// out of the loops over members.
#[cold]
pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    super::work::count(raw.len() / 16);
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

/// Returns the offset of the next backslash. JSON nested in a JSON string has one every few bytes, so the
/// first bytes are checked without `memchr`.
fn next_escape(bytes: &[u8]) -> Option<usize> {
    const NEAR_BYTES: usize = 16;
    let near = bytes.get(..NEAR_BYTES).unwrap_or(bytes);
    near.iter().position(|&byte| byte == b'\\').or_else(|| {
        memchr::memchr(b'\\', bytes.get(NEAR_BYTES..)?).map(|position| position + NEAR_BYTES)
    })
}

/// Appends the character of the escape sequence at the start of `escape`; returns the sequence's length.
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
            // An unpaired surrogate is not a character.
            decoded.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            return 6;
        }
        Some(&other) => char::from(other),
        None => return 1,
    };
    decoded.push(simple);
    2
}

/// Returns the low surrogate, if the next escape sequence is one.
fn low_half_of_pair(escape: &[u8]) -> Option<u32> {
    let is_escape = escape.get(6..8) == Some(b"\\u");
    code_unit(escape, 8).filter(|low| is_escape && (0xDC00..=0xDFFF).contains(low))
}

/// Formats `text` as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
