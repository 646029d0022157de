//! Request ids, which correlate responses with requests.

use std::sync::Arc;

use stickler::tape::{Kind, Node, TapeBuffer};

/// A request id. Two ids are equal if their values are equal by JSON Schema: `1` and `1.0` are, `1` and `"1"`
/// are not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// An integer.
    Integer(i64),
    /// A larger integer, as written.
    Large(Arc<str>),
    /// A string with its escapes decoded.
    String(Arc<str>),
}

impl RequestId {
    /// Converts a value; `None` unless it is a string or an integer.
    pub fn of(node: Node<'_>) -> Option<Self> {
        match node.kind() {
            Kind::String => Some(Self::String(node.as_str()?.into())),
            Kind::Number => match plain_integer(node.raw().as_bytes()) {
                Some(number) => Some(Self::Integer(number)),
                None => (node.type_name() == "integer").then(|| Self::of_number(node.raw())),
            },
            _ => None,
        }
    }

    /// Whether a value is a valid id.
    pub fn is_valid(node: Node<'_>) -> bool {
        match node.kind() {
            Kind::String => true,
            Kind::Number => node.type_name() == "integer",
            _ => false,
        }
    }

    /// Normalises numbers that doubles represent exactly; larger ones are compared as written.
    fn of_number(text: &str) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if let Ok(number) = text.parse::<i64>() {
            return Self::Integer(number);
        }
        match text.parse::<f64>() {
            #[allow(clippy::cast_possible_truncation, reason = "within the range that is exact")]
            Ok(number) if number.abs() <= EXACT => Self::Integer(number as i64),
            _ => Self::Large(text.into()),
        }
    }

    /// Parses an id from JSON text.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if let Some(number) = plain_integer(text) {
            return Some(Self::Integer(number));
        }
        let mut buffer = TapeBuffer::new();
        Self::of(buffer.read(text, 1).ok()?.root())
    }

    /// Returns the id as JSON.
    pub fn to_json(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Large(digits) => digits.as_ref().to_owned(),
            Self::String(text) => stickler::tape::quote(text),
        }
    }
}

/// Fast path for the most common ids: short decimal integers.
fn plain_integer(text: &[u8]) -> Option<i64> {
    const MAX_DIGITS: usize = 18;
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..]
            if rest.len() < MAX_DIGITS && rest.iter().all(u8::is_ascii_digit) =>
        {
            Some(text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestId, TapeBuffer};

    fn id(text: &str) -> Option<RequestId> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 8).unwrap();
        RequestId::of(tape.root())
    }

    #[test]
    fn strings_and_integers_are_ids() {
        for text in ["1", "0", "-5", "1.0", "1e2", "\"\"", "\"a\"", "123456789012345678901234"] {
            assert!(id(text).is_some(), "{text}");
        }
        for text in ["null", "true", "1.5", "1e-1", "[]", "{}"] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn parsed_text_equals_the_id_of_its_value() {
        for text in ["0", "7", "10", "999999999999999999", "1000000000000000000", "-1", "\"7\""] {
            assert_eq!(RequestId::parse(text.as_bytes()), id(text), "{text}");
        }
        let largest = RequestId::Integer(999_999_999_999_999_999);
        assert_eq!(RequestId::parse(b"999999999999999999"), Some(largest));
        for text in ["", "007", "1a", "+1", "1.5", " "] {
            assert_eq!(RequestId::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn ids_with_equal_values_are_equal() {
        assert_eq!(id("1"), id("1.0"));
        assert_eq!(id("100"), id("1e2"));
        assert_eq!(id("\"a\""), id("\"\\u0061\""));
        assert_ne!(id("1"), id("\"1\""));
        assert_ne!(id("123456789012345678901234"), id("123456789012345678901235"));
    }
}
