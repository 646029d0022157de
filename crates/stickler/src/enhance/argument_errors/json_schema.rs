//! Recognises the messages of Python's `jsonschema` and of the Rust crate with the same name.
//!
//! `Input validation error: 'name' is a required property`, `12 is not of type 'string'`,
//! `'v' is not one of ['a', 'b']`,
//! `Additional properties are not allowed ('x' was unexpected)`.

use super::prefix::ErrorMessage;
use super::tokens::{quoted_words, take_name, take_names};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let mut lines = message.body.lines();
    let Some(sentence) = lines.next() else {
        return Vec::new();
    };
    let rest = message.body.get(sentence.len()..).unwrap_or_default().trim();
    // Only the details that the library appends may follow; any other text is prose.
    if !rest.is_empty() && !rest.starts_with("Failed validating") && !message.is_about_the_call() {
        return Vec::new();
    }
    let parent = instance_path(rest);
    let found = missing(sentence).or_else(|| unknown(sentence)).or_else(|| bad_value(sentence));
    found.map(|found| found.argument_errors(&parent, message)).unwrap_or_default()
}

/// The kind of error and the named child fields of the instance.
struct Fault {
    kind: ErrorKind,
    children: Vec<String>,
}

impl Fault {
    fn argument_errors(&self, parent: &[String], message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
        let at = |path: &[String]| field_path::error_at(path, message.scope, self.kind.clone());
        if self.children.is_empty() {
            return at(parent).into_iter().collect();
        }
        let child = |name: &String| [parent, std::slice::from_ref(name)].concat();
        self.children.iter().filter_map(|name| at(&child(name))).collect()
    }
}

fn missing(sentence: &str) -> Option<Fault> {
    let (field, rest) = quoted_name(sentence)?;
    (rest.trim_end_matches('.') == " is a required property")
        .then(|| Fault { kind: ErrorKind::MissingField, children: vec![field.to_owned()] })
}

fn unknown(sentence: &str) -> Option<Fault> {
    let rest = sentence.strip_prefix("Additional properties are not allowed (")?;
    let (children, rest) = take_names(rest);
    let is_complete = rest.starts_with(" was unexpected)") || rest.starts_with(" were unexpected)");
    (is_complete && !children.is_empty())
        .then_some(Fault { kind: ErrorKind::UnknownField, children })
}

fn bad_value(sentence: &str) -> Option<Fault> {
    let kind = if let Some((value, types)) = sentence.rsplit_once(" is not of type ") {
        let types = quoted_words(types.starts_with(['\'', '"']).then_some(types)?);
        ErrorKind::WrongType { expected: Some(types.join(" | ")), received: Some(type_of(value)?) }
    } else {
        let (value, allowed) = sentence.rsplit_once(" is not one of ")?;
        type_of(value)?;
        let is_list = allowed.starts_with(['[', '\'', '"']);
        ErrorKind::NotInEnum { allowed: is_list.then(|| quoted_words(allowed))? }
    };
    Some(Fault { kind, children: Vec::new() })
}

fn quoted_name(text: &str) -> Option<(&str, &str)> {
    text.starts_with(['\'', '"']).then(|| take_name(text))?
}

/// Returns the JSON type of a value in Python or JSON notation; `None` for other texts.
fn type_of(value: &str) -> Option<String> {
    let type_name = match value {
        "None" | "null" => "null",
        "True" | "False" | "true" | "false" => "boolean",
        _ if is_within(value, '\'', '\'') || is_within(value, '"', '"') => "string",
        _ if is_within(value, '[', ']') => "array",
        _ if is_within(value, '{', '}') => "object",
        _ if value.parse::<f64>().is_ok() => "number",
        _ => return None,
    };
    Some(type_name.to_owned())
}

fn is_within(value: &str, open: char, close: char) -> bool {
    value.len() >= 2 && value.starts_with(open) && value.ends_with(close)
}

/// Returns the path in `On instance['a'][0]:`, at the end of the long form of an error.
fn instance_path(appended: &str) -> Vec<String> {
    let line = appended.lines().find_map(|line| line.trim().strip_prefix("On instance"));
    line.and_then(|line| line.split_once("]:"))
        .map_or_else(Vec::new, |(path, _)| field_path::segments(&format!("{path}]")))
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn wrong(expected: &str, received: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn missing_property_is_recognised_with_and_without_prefix() {
        let missing = ArgumentError { kind: ErrorKind::MissingField, path: "/name".into() };
        for text in [
            "'name' is a required property",
            "Input validation error: \"name\" is a required property",
        ] {
            assert_eq!(recognise(text), std::slice::from_ref(&missing), "{text}");
        }
    }

    #[test]
    fn every_additional_property_is_recognised() {
        let text = "Input validation error: Additional properties are not allowed ('x', 'y' were unexpected)";
        let paths: Vec<String> = recognise(text).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/x", "/y"]);
    }

    #[test]
    fn received_type_is_derived_from_the_value() {
        for (value, received) in
            [("12", "number"), ("None", "null"), ("'a is b'", "string"), ("[1]", "array")]
        {
            let found = recognise(&format!("{value} is not of type 'boolean'"));
            assert_eq!(
                found,
                [ArgumentError { kind: wrong("boolean", received), path: String::new() }]
            );
        }
        let either = recognise("Input validation error: [] is not of type 'string', 'null'");
        assert_eq!(either.first().map(|c| c.kind.clone()), Some(wrong("string | null", "array")));
    }

    #[test]
    fn allowed_values_are_listed() {
        let found = recognise("Input validation error: 'v' is not one of ['a', 'b c']");
        let kind = ErrorKind::NotInEnum { allowed: vec!["a".into(), "b c".into()] };
        assert_eq!(found, [ArgumentError { kind, path: String::new() }]);
    }

    #[test]
    fn path_is_taken_from_the_long_form() {
        let text = "'name' is a required property\n\nFailed validating 'required' in schema['items']:\n    \
                    {'type': 'object'}\n\nOn instance['items'][0]:\n    {}";
        assert_eq!(
            recognise(text),
            [ArgumentError { kind: ErrorKind::MissingField, path: "/items/0/name".into() }]
        );
    }

    #[test]
    fn prose_with_the_same_words_is_ignored() {
        for text in [
            "The deed is a required property of the estate",
            "'deed' is a required property\nfor all estates in the county",
            "This dog is not one of 'ours'",
            "The input is not of type we like",
            "Column 'a' is not of type 'string'",
            "'a' in the sheet is not one of 'the best'",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
