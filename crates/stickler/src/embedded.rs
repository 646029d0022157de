//! JSON that arrived as the text of a string.

use serde_json::Number;

use crate::tape::{Kind, Node, TapeBuffer};

/// Text inside a string is someone's JSON only within reason.
const DEEPEST: usize = 128;

/// The JSON that a string holds, if it is of one of the wanted types. A number or boolean must be
/// written the one way in which it is always written: `"007"` is not seven.
pub(crate) fn parse_as(text: &str, wanted: &[&str]) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), DEEPEST).ok()?;
    let inner = tape.root();
    let fits = types_of(inner, text).iter().any(|name| wanted.contains(name));
    fits.then(|| inner.raw().to_owned())
}

/// The types as which [`parse_as`] takes a text.
pub(crate) fn types_held(text: &str) -> &'static [&'static str] {
    let mut buffer = TapeBuffer::new();
    buffer.read(text.as_bytes(), DEEPEST).map_or(&[], |tape| types_of(tape.root(), text))
}

fn types_of(inner: Node<'_>, text: &str) -> &'static [&'static str] {
    match inner.kind() {
        Kind::Object => &["object"],
        Kind::Array => &["array"],
        Kind::Boolean if inner.raw() == text => &["boolean"],
        Kind::Number if !is_canonical(text) => &[],
        Kind::Number if inner.type_name() == "integer" => &["integer", "number"],
        Kind::Number => &["number"],
        _ => &[],
    }
}

fn is_canonical(text: &str) -> bool {
    text.parse::<Number>().is_ok_and(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::{parse_as, types_held};

    #[test]
    fn containers_are_taken_with_any_spacing() {
        assert_eq!(parse_as(" {\"a\": 1} ", &["object"]).as_deref(), Some("{\"a\": 1}"));
        assert_eq!(parse_as("[1]", &["object"]), None);
    }

    #[test]
    fn numbers_and_booleans_only_as_they_are_always_written() {
        assert_eq!(parse_as("42", &["integer"]).as_deref(), Some("42"));
        assert_eq!(parse_as("1.5", &["number"]).as_deref(), Some("1.5"));
        assert_eq!(parse_as("true", &["boolean"]).as_deref(), Some("true"));
        for text in ["007", "+1", "1e3", " 42", "1.50", "12345678901234567890123", "True"] {
            assert_eq!(parse_as(text, &["integer", "number", "boolean"]), None, "{text}");
        }
    }

    #[test]
    fn a_fraction_is_no_integer() {
        assert_eq!(parse_as("1.5", &["integer"]), None);
    }

    #[test]
    fn the_types_held_are_those_that_are_parsed() {
        let names = ["object", "array", "boolean", "integer", "number", "string", "null"];
        for text in ["{}", "[1]", "true", "1", "1.5", "1.0", "007", " 1", "null", "\"a\"", "a", ""]
        {
            for name in names {
                let held = types_held(text).contains(&name);
                assert_eq!(held, parse_as(text, &[name]).is_some(), "{text} as {name}");
            }
        }
    }
}
