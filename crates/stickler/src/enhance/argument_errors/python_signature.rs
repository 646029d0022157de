//! Recognises the `TypeError` of a Python function that was called with the wrong arguments.
//!
//! `search() got an unexpected keyword argument 'x'`,
//! `search() missing 2 required positional arguments: 'a' and 'b'`.
//!
//! A defect inside the server yields the same texts. So the function must have the name of the tool, or the
//! schema must agree: a missing argument is one of its fields, an unexpected one is not. A constructor or another
//! special method is never the tool.

use super::prefix::ErrorMessage;
use super::tokens::take_names;
use super::{ArgumentError, ErrorKind, field_path};
use crate::suggest;

/// Returns the errors that are about the tool and its fields.
pub(super) fn recognise(
    message: &ErrorMessage<'_>,
    tool: &str,
    fields: &[String],
) -> Vec<ArgumentError> {
    let line = message.body.lines().next().unwrap_or_default();
    let line = line.strip_prefix("TypeError: ").unwrap_or(line);
    let Some((function, rest)) = line.split_once("() ") else { return Vec::new() };
    let Some((names, kind)) = complaint(rest) else { return Vec::new() };
    if function.is_empty() || function.contains(char::is_whitespace) {
        return Vec::new();
    }
    let function = function.rsplit('.').next().unwrap_or(function);
    if function.starts_with("__") {
        return Vec::new();
    }
    let is_the_tool = suggest::same_ignoring_style(function, tool);
    let is_missing = kind == ErrorKind::MissingField;
    let agrees = |name: &&String| is_the_tool || fields.contains(name) == is_missing;
    let at = |name: &String| {
        field_path::error_at(std::slice::from_ref(name), message.scope, kind.clone())
    };
    names.iter().filter(agrees).filter_map(at).collect()
}

/// Returns the arguments that the text after the function names, and what is wrong with them.
fn complaint(rest: &str) -> Option<(Vec<String>, ErrorKind)> {
    if let Some(name) = rest.strip_prefix("got an unexpected keyword argument ") {
        let (name, rest) = quoted(name)?;
        // Newer versions append a suggestion.
        let is_complete = rest.is_empty() || rest.starts_with(". Did you mean ");
        return is_complete.then(|| (vec![name.to_owned()], ErrorKind::UnknownField));
    }
    let (count, rest) = rest.strip_prefix("missing ")?.split_once(" required ")?;
    let (_, list) = rest.split_once(" argument")?;
    let list = list.strip_prefix('s').unwrap_or(list).strip_prefix(": ")?;
    let (names, rest) = take_names(list);
    let is_complete = rest.is_empty() && count.parse() == Ok(names.len());
    is_complete.then_some((names, ErrorKind::MissingField))
}

/// Splits off a name in single quotes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('\'')?.split_once('\'')
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise_for};

    fn found(text: &str) -> Vec<ArgumentError> {
        recognise_for(text, "search_items", &["a", "b", "c"].map(str::to_owned))
    }

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    #[test]
    fn unexpected_argument_is_recognised() {
        for text in [
            "f() got an unexpected keyword argument 'x'",
            "Server.f() got an unexpected keyword argument 'x'",
            "f() got an unexpected keyword argument 'x'. Did you mean 'a'?",
            "Error executing tool f: f() got an unexpected keyword argument 'x'",
            "TypeError: register.<locals>.f() got an unexpected keyword argument 'x'",
        ] {
            assert_eq!(found(text), [at("/x", ErrorKind::UnknownField)], "{text}");
        }
    }

    #[test]
    fn function_with_the_name_of_the_tool_needs_no_agreement() {
        let text = "Server.searchItems() got an unexpected keyword argument 'a'";
        assert_eq!(found(text), [at("/a", ErrorKind::UnknownField)]);
    }

    #[test]
    fn missing_arguments_are_recognised() {
        let missing = |name: &str| at(&format!("/{name}"), ErrorKind::MissingField);
        let (a, b, c) = (missing("a"), missing("b"), missing("c"));
        for (text, expected) in [
            ("f() missing 1 required positional argument: 'a'", vec![a.clone()]),
            ("f() missing 1 required keyword-only argument: 'b'", vec![b.clone()]),
            (
                "f() missing 2 required positional arguments: 'a' and 'b'",
                vec![a.clone(), b.clone()],
            ),
            (
                "f() missing 3 required positional arguments: 'a', 'b', and 'c'",
                vec![a.clone(), b.clone(), c],
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn defects_of_the_server_are_ignored() {
        for text in [
            "Client.get() missing 1 required positional argument: 'self'",
            "connect() got an unexpected keyword argument 'a'",
            "AsyncClient.__init__() got an unexpected keyword argument 'proxies'",
            "f() takes 1 positional argument but 2 were given",
            "the call f() missing 1 required positional argument: 'a'",
            "'a'",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
