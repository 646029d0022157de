//! The outermost members of a text, found without reading what is in them.
//!
//! Enough to tell a record from a message and to see who sends a message, at little more than the
//! cost of finding the end of the text. It judges nothing: what is not JSON is left to the one who
//! reads the message.

use memchr::memchr2;

/// What stands directly inside a JSON object or array, as it is written.
#[derive(Debug, Clone)]
pub(super) struct Outline<'t> {
    text: &'t [u8],
    position: usize,
    closing: u8,
    is_whole: bool,
}

impl<'t> Outline<'t> {
    pub(super) fn of_object(text: &'t [u8]) -> Option<Self> {
        Self::open(text, b'{', b'}')
    }

    pub(super) fn of_array(text: &'t [u8]) -> Option<Self> {
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

    /// Whether the end was reached and was the end of the text.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The next member: the key without its quotes, and the value.
    pub(super) fn next_member(&mut self) -> Option<(&'t [u8], &'t [u8])> {
        let key = self.next_key()?;
        Some((key, self.value()))
    }

    /// The key of the next member. What follows must be its [`value`](Self::value).
    pub(super) fn next_key(&mut self) -> Option<&'t [u8]> {
        self.skip(b',')?;
        let key = self.value().strip_prefix(b"\"")?;
        self.skip(b':')?;
        Some(key.strip_suffix(b"\"").unwrap_or(key))
    }

    /// The next element of an array.
    pub(super) fn next_element(&mut self) -> Option<&'t [u8]> {
        self.skip(b',')?;
        Some(self.value()).filter(|value| !value.is_empty())
    }

    /// Goes past white space and the separator. `None` at the end.
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

    /// The value that comes next. Of a text that breaks off, what there is of it.
    pub(super) fn value(&mut self) -> &'t [u8] {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let length = value_length(rest).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }
}

/// The length of the value that a text begins with; `None` where it does not end.
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
    fn members_are_seen_as_they_are_written() {
        let text = r#" { "a" : 1 ,"b":"x\"}y", "c":{"d":["]",{}]},"e":null } "#;
        let all = vec![("a", "1"), ("b", r#""x\"}y""#), ("c", r#"{"d":["]",{}]}"#), ("e", "null")];
        assert_eq!(members(text), (all, true));
        assert_eq!(members("{}"), (vec![], true));
    }

    #[test]
    fn a_text_that_breaks_off_is_seen_as_far_as_it_goes() {
        assert_eq!(
            members(r#"{"a":1,"result":{"b":"#),
            (vec![("a", "1"), ("result", "{\"b\":")], false)
        );
        assert_eq!(members(r#"{"a":1,"b"#), (vec![("a", "1")], false));
        assert_eq!(members(r#"{"a":"x\"#), (vec![("a", "\"x\\")], false));
        assert_eq!(members(r#"{"a":1} x"#), (vec![("a", "1")], false));
    }

    #[test]
    fn what_is_no_json_ends() {
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
    fn elements_of_a_batch() {
        let mut outline = Outline::of_array(br#"[{"a":[1]} , 2,"x"]"#).unwrap();
        let elements: Vec<&[u8]> = std::iter::from_fn(|| outline.next_element()).collect();
        assert_eq!(elements, [&br#"{"a":[1]}"#[..], b"2", b"\"x\""]);
        assert!(outline.is_whole());
    }
}
