//! Strings: finding their end, and decoding them when someone looks.

use std::borrow::Cow;

use super::fault::SyntaxErrorKind;

/// Bytes looked at together; wide enough for the compiler to use vector instructions, without any
/// of ours.
const STRIDE: usize = 32;

/// From the byte after the opening quote to the closing quote, and whether there are escapes.
pub(super) fn scan(bytes: &[u8], start: usize) -> Result<(usize, bool), (SyntaxErrorKind, usize)> {
    let mut position = start;
    let mut escaped = false;
    loop {
        position += plain_run(bytes.get(position..).unwrap_or_default());
        match bytes.get(position) {
            Some(b'"') => return Ok((position, escaped)),
            Some(b'\\') => {
                escaped = true;
                position = escape_end(bytes, position)?;
            }
            Some(_) => return Err((SyntaxErrorKind::ControlCharacter, position)),
            None => return Err((SyntaxErrorKind::UnexpectedEnd, position)),
        }
    }
}

/// The number of bytes before the next quote, backslash or control character.
fn plain_run(bytes: &[u8]) -> usize {
    // Most strings are short: look at a few bytes before setting up for long ones.
    let (head, _) = bytes.split_at(bytes.len().min(STRIDE));
    if let Some(position) = head.iter().position(|&byte| is_special(byte)) {
        return position;
    }
    let strides = bytes.chunks_exact(STRIDE).take_while(|stride| {
        !stride.iter().fold(false, |special, &byte| special | is_special(byte))
    });
    let run = strides.count() * STRIDE;
    let rest = bytes.get(run..).unwrap_or_default();
    run + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

// Bits, not branches: that is what vectorises.
#[allow(clippy::needless_bitwise_bool)]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Checks the escape sequence whose backslash is at `position`; the offset after it.
fn escape_end(bytes: &[u8], position: usize) -> Result<usize, (SyntaxErrorKind, usize)> {
    match bytes.get(position + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(position + 2),
        Some(b'u') => {
            let bad = (SyntaxErrorKind::BadEscape, position);
            let lone = (SyntaxErrorKind::LoneSurrogate, position);
            let unit = code_unit(bytes, position + 2).ok_or(bad)?;
            match unit {
                0xD800..=0xDBFF => {
                    if bytes.get(position + 6..position + 8) != Some(b"\\u") {
                        return Err(lone);
                    }
                    let low = code_unit(bytes, position + 8)
                        .ok_or((SyntaxErrorKind::BadEscape, position + 6))?;
                    if (0xDC00..=0xDFFF).contains(&low) { Ok(position + 12) } else { Err(lone) }
                }
                0xDC00..=0xDFFF => Err(lone),
                _ => Ok(position + 6),
            }
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
/// read.
pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let Some(first) = raw.find('\\') else {
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
        next = rest.find('\\');
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
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
            if (0xD800..=0xDBFF).contains(&unit) {
                let low = code_unit(bytes, 8).unwrap_or(0xDC00);
                let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low & 0x3FF);
                decoded.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
                return 12;
            }
            decoded.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            return 6;
        }
        Some(&other) => char::from(other),
        None => return 1,
    };
    decoded.push(simple);
    2
}

/// `text` as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
