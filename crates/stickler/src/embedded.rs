//! JSON that arrived as the text of a string.

use serde_json::Number;

use crate::tape::{Kind, TapeBuffer};

/// Text inside a string is someone's JSON only within reason.
const DEEPEST: usize = 128;

/// The JSON that a string holds, if it is of one of the wanted types. A number or boolean must be
/// written the one way in which it is always written: `"007"` is not seven.
pub(crate) fn parse_as(text: &str, wanted: &[&str]) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), DEEPEST).ok()?;
    let inner = tape.root();
    let wants = |name: &str| wanted.contains(&name);
    let fits = match inner.kind() {
        Kind::Object | Kind::Array => wants(inner.kind().name()),
        Kind::Boolean => wants("boolean") && inner.raw() == text,
        Kind::Number => {
            (wants("number") || (wants("integer") && inner.type_name() == "integer"))
                && is_canonical(text)
        }
        Kind::String | Kind::Null => false,
    };
    fits.then(|| inner.raw().to_owned())
}

fn is_canonical(text: &str) -> bool {
    text.parse::<Number>().is_ok_and(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::parse_as;

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
}
