//! Recognises the messages of serde, which rmcp servers return.
//!
//! ``failed to deserialize parameters: missing field `name` ``,
//! ``unknown field `x`, expected one of `a`, `b` ``, `invalid type: string "x", expected u64`.

use super::prefix::ErrorMessage;
use super::tokens::{is_path, quoted_words};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let line = message.body.lines().next().unwrap_or_default();
    let (parent, words) = path_before(line);
    let (words, has_position) = without_position(words);
    // Arguments are deserialized from values, so a position means that the server parsed another
    // text, such as a file or a response. A path may be the name of that file, and further lines
    // may describe it. In these cases a prefix must show that the text is about the arguments.
    let is_ambiguous = has_position || !parent.is_empty() || !message.is_one_line();
    if is_ambiguous && !message.is_about_the_call() {
        return Vec::new();
    }
    let error = fault(words).and_then(|(kind, child)| {
        let mut path = field_path::segments(parent);
        path.extend(child);
        field_path::error_at(&path, message.scope, kind)
    });
    error.into_iter().collect()
}

/// Splits off the path `a.b[0]: ` that some servers put before the message of serde.
fn path_before(line: &str) -> (&str, &str) {
    match line.split_once(": ") {
        Some((path, words)) if is_path(path) => (path, words),
        _ => ("", line),
    }
}

/// Strips ` at line 1 column 7` and returns whether it was present.
fn without_position(words: &str) -> (&str, bool) {
    let is_position = |tail: &str| {
        tail.split_once(" column ").is_some_and(|(line, column)| {
            [line, column].iter().all(|number| number.parse::<u64>().is_ok())
        })
    };
    match words.rsplit_once(" at line ") {
        Some((words, tail)) if is_position(tail) => (words, true),
        _ => (words, false),
    }
}

/// Returns the kind of error and the named child field.
fn fault(words: &str) -> Option<(ErrorKind, Option<String>)> {
    if let Some(rest) = words.strip_prefix("missing field ") {
        let (field, rest) = in_backticks(rest)?;
        return rest.is_empty().then(|| (ErrorKind::MissingField, Some(field.to_owned())));
    }
    if let Some(rest) = words.strip_prefix("unknown field ") {
        let (field, rest) = in_backticks(rest)?;
        let is_complete = rest.starts_with(", expected ") || rest == ", there are no fields";
        return is_complete.then(|| (ErrorKind::UnknownField, Some(field.to_owned())));
    }
    if let Some(rest) = words.strip_prefix("unknown variant ") {
        let (_, rest) = in_backticks(rest)?;
        let allowed = rest.strip_prefix(", expected ")?;
        return Some((ErrorKind::NotInEnum { allowed: quoted_words(allowed) }, None));
    }
    let (received, expected) = words.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    let received = received.split(['`', '"']).next().map(|word| word.trim().to_owned());
    Some((ErrorKind::WrongType { expected: Some(expected.to_owned()), received }, None))
}

fn in_backticks(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    #[test]
    fn missing_field_is_recognised_with_and_without_prefix() {
        let missing = at("/name", ErrorKind::MissingField);
        for text in
            ["missing field `name`", "failed to deserialize parameters: missing field `name`"]
        {
            assert_eq!(recognise(text), std::slice::from_ref(&missing), "{text}");
        }
    }

    #[test]
    fn unknown_field_is_recognised_with_any_list_of_expected_fields() {
        for tail in [
            "expected `a`",
            "expected `a` or `b`",
            "expected one of `a`, `b`, `c`",
            "there are no fields",
        ] {
            let found = recognise(&format!("unknown field `x`, {tail}"));
            assert_eq!(found, [at("/x", ErrorKind::UnknownField)], "{tail}");
        }
    }

    #[test]
    fn wrong_type_is_recognised_regardless_of_the_value() {
        let found = recognise("invalid type: string \"a, expected b\", expected u64");
        let kind =
            ErrorKind::WrongType { expected: Some("u64".into()), received: Some("string".into()) };
        assert_eq!(found, [at("", kind)]);
    }

    #[test]
    fn variants_are_listed() {
        let found = recognise(
            "failed to deserialize parameters: unknown variant `z`, expected one of `p`, `q`, `r`",
        );
        let allowed = vec!["p".into(), "q".into(), "r".into()];
        assert_eq!(found, [at("", ErrorKind::NotInEnum { allowed })]);
    }

    #[test]
    fn path_before_the_message_is_kept() {
        let found = recognise("Invalid params: items[0].o: missing field `n`");
        assert_eq!(found, [at("/items/0/o/n", ErrorKind::MissingField)]);
    }

    #[test]
    fn message_with_a_position_is_recognised_only_with_a_prefix() {
        let text = "missing field `n` at line 1 column 9";
        assert_eq!(recognise(text), []);
        let is_about_call = recognise(&format!("Invalid arguments: {text}"));
        assert_eq!(is_about_call, [at("/n", ErrorKind::MissingField)]);
    }

    #[test]
    fn serde_messages_inside_other_texts_are_ignored() {
        assert_eq!(recognise("could not read settings: missing field `n`"), []);
        assert_eq!(recognise("settings.json: missing field `n`"), []);
        assert_eq!(recognise("missing field `n`\nwhile loading settings"), []);
        assert_eq!(recognise("missing field `n` in the form you posted"), []);
    }
}
