//! Decodes base64, the form of recorded messages that are not UTF-8.

/// Decodes standard base64 with or without padding; `None` if the text is not base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii_end();
    let digits = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut bytes = Vec::with_capacity(digits / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.get(..digits)? {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_decoded_with_and_without_padding() {
        assert_eq!(decode(b"").unwrap(), b"");
        assert_eq!(decode(b"TQ==").unwrap(), b"M");
        assert_eq!(decode(b"TWE").unwrap(), b"Ma");
        assert_eq!(decode(b"/+8A").unwrap(), [0xff, 0xef, 0x00]);
        assert_eq!(decode(b"a b"), None);
    }
}
