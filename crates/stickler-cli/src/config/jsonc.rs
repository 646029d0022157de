//! JSON with comments and trailing commas, as the configuration files of VS Code and Zed contain it.

use std::borrow::Cow;

/// Replaces comments and trailing commas with spaces. Every other byte keeps its value and its offset, so
/// positions in the result are positions in the original text.
pub(super) fn blank(text: &str) -> Cow<'_, str> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, blanks: Vec::new() };
    scanner.scan();
    if scanner.blanks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in scanner.blanks {
        for byte in bytes.get_mut(range).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    // Whole comments and single commas are replaced, so no character is cut in two.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    blanks: Vec<std::ops::Range<usize>>,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        // The last two significant bytes: a comma is superfluous if a value precedes it and a bracket follows.
        let (mut before, mut last) = (0_u8, (0_u8, 0_usize));
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => self.skip_string(),
                b'/' if self.skip_comment() => continue,
                _ => self.at += 1,
            }
            if byte.is_ascii_whitespace() {
                continue;
            }
            let is_superfluous = last.0 == b',' && !matches!(before, 0 | b',' | b'[' | b'{' | b':');
            if is_superfluous && matches!(byte, b']' | b'}') {
                self.blanks.push(last.1..last.1 + 1);
            }
            (before, last) = (last.0, (byte, self.at - 1));
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }

    /// Skips a comment and returns whether there is one. A block comment without an end is not one.
    fn skip_comment(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = match rest.get(1) {
            Some(b'/') => Some(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())),
            Some(b'*') => {
                memchr::memmem::find(rest.get(2..).unwrap_or_default(), b"*/").map(|end| end + 4)
            }
            _ => None,
        };
        let Some(length) = length else { return false };
        self.blanks.push(self.at..self.at + length);
        self.at += length;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::blank;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        for (text, expected) in [
            ("{\"a\": 1} // ü\n", "{\"a\": 1}      \n"),
            ("/* ü\n */{}", "     \n   {}"),
            ("[1, 2,]", "[1, 2 ]"),
            ("{\"a\": [\"x\", /* y */ ], }", "{\"a\": [\"x\"          ]  }"),
            ("[\"// no, ]\", 1]", "[\"// no, ]\", 1]"),
            ("[\"\\\",]\"]", "[\"\\\",]\"]"),
            ("[1,, ]", "[1,, ]"),
            ("[,]", "[,]"),
            ("[1] /* open", "[1] /* open"),
            ("/", "/"),
            ("\"open", "\"open"),
        ] {
            assert_eq!(blank(text), expected);
        }
    }
}
