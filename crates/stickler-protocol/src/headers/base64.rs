//! Encodes header values that are not plain ASCII text as `=?base64?…?=`.

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes a header value; `None` if its encoding is invalid.
pub(super) fn decode(header: &str) -> Option<String> {
    let inner = header.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING));
    match inner {
        Some(inner) => String::from_utf8(bytes(inner)?).ok(),
        None => Some(header.to_owned()),
    }
}

/// Encodes a value if a header cannot carry it as plain text.
pub(super) fn encode_if_needed(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && value.trim_ascii() == value
        && !value.starts_with(OPENING);
    if is_plain {
        return value.to_owned();
    }
    format!("{OPENING}{}{CLOSING}", text(value.as_bytes()))
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut word = 0_u32;
        for index in 0..3 {
            word = word << 8 | u32::from(group.get(index).copied().unwrap_or_default());
        }
        for index in 0..4 {
            let digit = (word >> (18 - 6 * index) & 63) as usize;
            let is_padding = index > group.len();
            let letter = ALPHABET.get(digit).copied().unwrap_or(b'=');
            text.push(if is_padding { '=' } else { char::from(letter) });
        }
    }
    text
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    // Padding is required, so that each value has one encoding.
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut word, mut held) = (0_u32, 0_u32);
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|letter| *letter == digit)?;
        word = word << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(word >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode_if_needed};

    #[test]
    fn encoded_values_are_decoded_unchanged() {
        for value in ["", "a", "tool name", " padded ", "Zürich", "=?base64?x?=", "a\nb", "日本語"]
        {
            assert_eq!(decode(&encode_if_needed(value)).as_deref(), Some(value));
        }
        assert_eq!(encode_if_needed("plain"), "plain");
        assert_eq!(decode("=?base64?!!!?="), None);
        assert_eq!(decode("=?base64?SGk=?=").as_deref(), Some("Hi"));
        assert_eq!(decode("=?base64?SGk?="), None, "the padding is missing");
        assert_eq!(decode("=?base64?SGk==?="), None, "there is too much padding");
    }
}
