//! Scans the top-level members of a JSON text without parsing their values.
//!
//! The scan distinguishes records from messages and finds the members that identify the sender, at little more
//! than the cost of finding the end of the text. It does not validate: invalid JSON is reported when the
//! message is parsed.

use memchr::memchr2;

/// Scanner over the members or elements of a JSON object or array.
#[derive(Debug, Clone)]
pub struct Outline<'t> {
    text: &'t [u8],
    position: usize,
    closing: u8,
    is_whole: bool,
}

impl<'t> Outline<'t> {
    /// Scans an object; `None` if the text does not start with one.
    pub fn of_object(text: &'t [u8]) -> Option<Self> {
        Self::open(text, b'{', b'}')
    }

    /// Scans an array; `None` if the text does not start with one.
    pub fn of_array(text: &'t [u8]) -> Option<Self> {
        Self::open(text, b'[', b']')
    }

    fn open(text: &'t [u8], opening: u8, closing: u8) -> Option<Self> {
        let text = text.trim_ascii();
        (text.first() == Some(&opening)).then_some(Self {
            text,
            position: 1,
            closing,
            is_whole: false,
        })
    }

    /// Whether the closing bracket was reached and is the end of the text.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the next member: the key without quotes, and the value.
    pub fn next_member(&mut self) -> Option<(&'t [u8], &'t [u8])> {
        let key = self.next_key()?;
        Some((key, self.value()))
    }

    /// Returns the key of the next member. The caller must then read its [`value`](Self::value).
    pub fn next_key(&mut self) -> Option<&'t [u8]> {
        self.skip(b',')?;
        let key = self.value().strip_prefix(b"\"")?;
        self.skip(b':')?;
        Some(key.strip_suffix(b"\"").unwrap_or(key))
    }

    /// Returns the next element of an array.
    pub fn next_element(&mut self) -> Option<&'t [u8]> {
        self.skip(b',')?;
        Some(self.value()).filter(|value| !value.is_empty())
    }

    /// Skips whitespace and the separator. Returns `None` at the end.
    fn skip(&mut self, separator: u8) -> Option<()> {
        loop {
            match *self.text.get(self.position)? {
                byte if byte == self.closing => {
                    self.is_whole = self.position + 1 == self.text.len();
                    return None;
                }
                byte if byte.is_ascii_whitespace() || byte == separator => self.position += 1,
                _ => return Some(()),
            }
        }
    }

    /// Returns the next value; in a truncated text, the part that exists.
    pub fn value(&mut self) -> &'t [u8] {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let length = value_length(rest).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }
}

/// Returns the length of the value at the start of a text; `None` if it is truncated.
fn value_length(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_length(text),
        b'{' | b'[' => container_length(text),
        _ => text.iter().position(|byte| b",:}] \t\r\n".contains(byte)),
    }
}

fn string_length(text: &[u8]) -> Option<usize> {
    let mut position = 1;
    loop {
        position += memchr2(b'"', b'\\', text.get(position..)?)?;
        if text.get(position) == Some(&b'"') {
            return Some(position + 1);
        }
        position += 2;
    }
}

fn container_length(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut position = 0;
    loop {
        match text.get(position)? {
            b'"' => {
                position += string_length(text.get(position..)?)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(position + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        position += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Outline;

    fn members(text: &str) -> (Vec<(&str, &str)>, bool) {
        let mut outline = Outline::of_object(text.as_bytes()).unwrap();
        let mut members = Vec::new();
        while let Some((key, value)) = outline.next_member() {
            members.push((str::from_utf8(key).unwrap(), str::from_utf8(value).unwrap()));
        }
        (members, outline.is_whole())
    }

    #[test]
    fn members_are_returned_as_written() {
        let text = r#" { "a" : 1 ,"b":"x\"}y", "c":{"d":["]",{}]},"e":null } "#;
        let all = vec![("a", "1"), ("b", r#""x\"}y""#), ("c", r#"{"d":["]",{}]}"#), ("e", "null")];
        assert_eq!(members(text), (all, true));
        assert_eq!(members("{}"), (vec![], true));
    }

    #[test]
    fn truncated_text_is_scanned_to_its_end() {
        assert_eq!(
            members(r#"{"a":1,"result":{"b":"#),
            (vec![("a", "1"), ("result", "{\"b\":")], false)
        );
        assert_eq!(members(r#"{"a":1,"b"#), (vec![("a", "1")], false));
        assert_eq!(members(r#"{"a":"x\"#), (vec![("a", "\"x\\")], false));
        assert_eq!(members(r#"{"a":1} x"#), (vec![("a", "1")], false));
    }

    #[test]
    fn scan_of_invalid_json_terminates() {
        for text in ["{", "{]", "{:::", "{\"", "{,,,", "{1:2}", "{\"a\":}", "{\"a\" \"b\"}", "{}}"]
        {
            members(text);
        }
        for text in ["[", "[}", "[,", "[1 2", "[:]", "[\"a", "[]]", "[,]"] {
            let mut outline = Outline::of_array(text.as_bytes()).unwrap();
            while outline.next_element().is_some() {}
        }
    }

    #[test]
    fn array_elements_are_returned() {
        let mut outline = Outline::of_array(br#"[{"a":[1]} , 2,"x"]"#).unwrap();
        let elements: Vec<&[u8]> = std::iter::from_fn(|| outline.next_element()).collect();
        assert_eq!(elements, [&br#"{"a":[1]}"#[..], b"2", b"\"x\""]);
        assert!(outline.is_whole());
    }
}
