//! JSON embedded in a string.

use serde_json::Number;

use crate::tape::{Kind, Node, TapeBuffer};

/// Maximum nesting depth of embedded JSON.
const MAX_DEPTH: usize = 128;

/// The maximum size of a text that is rewritten as JSON.
const MAX_REWRITTEN_BYTES: usize = 1 << 20;

/// Returns the JSON text that a string contains if it is of one of the types. A number or boolean must
/// be in canonical form: `"007"` does not match `integer`.
pub(crate) fn parse_as(text: &str, types: &[&str]) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), MAX_DEPTH).ok()?;
    let inner = tape.root();
    let fits = types_of(inner, text).iter().any(|name| types.contains(name));
    fits.then(|| inner.raw().to_owned())
}

/// Like [`parse_as`] for an object or array that is not written as plain JSON: inside a Markdown fence, or
/// with single quotes, `True`, `False` and `None`, as Python prints it.
pub(crate) fn parse_written_as(text: &str, types: &[&str]) -> Option<String> {
    let inner = unfenced(text.trim());
    if !inner.starts_with(['{', '[']) || inner.len() > MAX_REWRITTEN_BYTES {
        return None;
    }
    parse_as(inner, types).or_else(|| {
        // With quotes of both kinds the text is ambiguous.
        let is_python = inner.contains('\'') && !inner.contains('"') && !inner.contains('\\');
        parse_as(&is_python.then(|| to_json(inner))?, types)
    })
}

/// Removes a Markdown fence around a text.
fn unfenced(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    rest.split_once('\n').map_or(rest, |(_, body)| body).trim()
}

/// Replaces single quotes and, outside of strings, the constants of Python.
fn to_json(text: &str) -> String {
    let parts = text.split('\'').enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            return part.to_owned();
        }
        part.replace("True", "true").replace("False", "false").replace("None", "null")
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// Returns the types for which [`parse_as`] accepts the text.
pub(crate) fn embedded_types(text: &str) -> &'static [&'static str] {
    let mut buffer = TapeBuffer::new();
    buffer.read(text.as_bytes(), MAX_DEPTH).map_or(&[], |tape| types_of(tape.root(), text))
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
    use super::{embedded_types, parse_as, parse_written_as};

    #[test]
    fn fenced_and_single_quoted_json_is_parsed() {
        let object = ["object"];
        let fenced = "```json\n{\"a\": 1}\n```";
        assert_eq!(parse_written_as(fenced, &object).as_deref(), Some("{\"a\": 1}"));
        let python = "{'a': True, 'b': None, 'c': 'True'}";
        let json = "{\"a\": true, \"b\": null, \"c\": \"True\"}";
        assert_eq!(parse_written_as(python, &object).as_deref(), Some(json));
        for text in ["{'a': \"b\"}", "{'it''s': 1}x", "plain 'text'", "```\nnot json\n```"] {
            assert_eq!(parse_written_as(text, &object), None, "{text}");
        }
    }

    #[test]
    fn objects_and_arrays_are_parsed_with_any_whitespace() {
        assert_eq!(parse_as(" {\"a\": 1} ", &["object"]).as_deref(), Some("{\"a\": 1}"));
        assert_eq!(parse_as("[1]", &["object"]), None);
    }

    #[test]
    fn numbers_and_booleans_are_parsed_only_in_canonical_form() {
        assert_eq!(parse_as("42", &["integer"]).as_deref(), Some("42"));
        assert_eq!(parse_as("1.5", &["number"]).as_deref(), Some("1.5"));
        assert_eq!(parse_as("true", &["boolean"]).as_deref(), Some("true"));
        for text in ["007", "+1", "1e3", " 42", "1.50", "12345678901234567890123", "True"] {
            assert_eq!(parse_as(text, &["integer", "number", "boolean"]), None, "{text}");
        }
    }

    #[test]
    fn fraction_is_not_an_integer() {
        assert_eq!(parse_as("1.5", &["integer"]), None);
    }

    #[test]
    fn embedded_types_agree_with_parse_as() {
        let names = ["object", "array", "boolean", "integer", "number", "string", "null"];
        for text in ["{}", "[1]", "true", "1", "1.5", "1.0", "007", " 1", "null", "\"a\"", "a", ""]
        {
            for name in names {
                let is_embedded = embedded_types(text).contains(&name);
                assert_eq!(is_embedded, parse_as(text, &[name]).is_some(), "{text} as {name}");
            }
        }
    }
}
