//! Recognises texts that list errors by field, in the wording of zod or of the server.
//!
//! `Invalid arguments for tool f: name: Invalid input: expected string, received null`,
//! `Invalid input: expected string, received undefined at name`, several of these joined by commas,
//! and lists such as `- path: required`. This module splits the list; `zod_text` and
//! `field_message` classify its items.

use super::prefix::ErrorMessage;
use super::tokens::{is_path, strip_prefix_ignore_case};
use super::{ArgumentError, ErrorKind, field_message, field_path, zod_text};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let mut found = Vec::new();
    for item in items(message.body) {
        let errors = argument_errors(&item, message);
        // Without a prefix about the call, every item of the list must be recognised.
        if errors.is_empty() && !message.is_about_the_call() {
            return Vec::new();
        }
        found.extend(errors);
    }
    found
}

/// An item of the list: a field and the message about it.
struct Item<'t> {
    field: &'t str,
    words: &'t str,
}

fn argument_errors(item: &Item<'_>, message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let is_about_call = message.is_about_the_call();
    let parent = field_path::segments(item.field);
    let at = |path: &[String], kind| field_path::error_at(path, message.scope, kind);
    let keys = zod_text::unrecognised_keys(item.words);
    if !keys.is_empty() {
        let child = |key: String| [parent.as_slice(), &[key]].concat();
        return keys
            .into_iter()
            .filter_map(|key| at(&child(key), ErrorKind::UnknownField))
            .collect();
    }
    let kind = zod_text::classify(item.words, is_about_call).or_else(|| {
        // Hand-written messages are meaningful only with a field.
        (is_about_call && !item.field.is_empty()).then(|| field_message::classify(item.words))
    });
    kind.and_then(|kind| at(&parent, kind)).into_iter().collect()
}

fn items(body: &str) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for line in body.lines().map(without_bullet) {
        // The pretty-printed form of zod has the path on a separate line.
        let path_line = line.strip_prefix("→ at ").filter(|path| is_path(path));
        match (path_line, items.last_mut()) {
            (Some(path), Some(last)) => last.field = path,
            _ => items.extend(split_line(line).into_iter().map(parse_item)),
        }
    }
    items
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let line = ["- ", "* ", "• ", "✖ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
        .unwrap_or(line);
    strip_prefix_ignore_case(line, "invalid argument: ").unwrap_or(line)
}

/// Splits a line at the commas that precede a new item.
fn split_line(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, comma) in line.match_indices(", ") {
        let next = at + comma.len();
        if line.get(next..).is_some_and(starts_an_item) {
            pieces.extend(line.get(start..at));
            start = next;
        }
    }
    pieces.extend(line.get(start..));
    pieces
}

fn starts_an_item(text: &str) -> bool {
    text.starts_with("Unrecognized key")
        || text.starts_with("Invalid input")
        || label(text).is_some()
}

fn parse_item(text: &str) -> Item<'_> {
    if let Some((field, words)) = label(text) {
        return Item { field, words };
    }
    match text.rsplit_once(" at ") {
        Some((words, field)) if is_path(field) => Item { field, words },
        _ => Item { field: "", words: text },
    }
}

/// Splits `field: words`.
fn label(text: &str) -> Option<(&str, &str)> {
    let end = text.find([' ', '\n']).unwrap_or(text.len());
    let field = text.get(..end)?.strip_suffix(':')?;
    let words = text.get(end..)?.trim_start();
    // `$first` and `$root` stand for the whole arguments in one Go library.
    let field = if field.starts_with('$') && !field.starts_with("$.") { "" } else { field };
    let names_a_field = field.is_empty() || is_path(field) && !field.ends_with("rror");
    (names_a_field && !words.is_empty()).then_some((field, words))
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn found(body: &str) -> Vec<ArgumentError> {
        recognise(&format!("MCP error -32602: Invalid arguments for tool f: {body}"))
    }

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    fn wrong(expected: &str, received: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn field_is_found_before_and_after_the_message() {
        let expected = [at("/a/0", wrong("string", "null"))];
        assert_eq!(found("a[0]: Invalid input: expected string, received null"), expected);
        assert_eq!(found("Invalid input: expected string, received null at a[0]"), expected);
        assert_eq!(found("✖ Invalid input: expected string, received null\n  → at a[0]"), expected);
    }

    #[test]
    fn items_separated_by_commas_or_lines_are_split() {
        let expected = [at("/a", ErrorKind::MissingField), at("/b", wrong("number", "string"))];
        let comma = "a: Invalid input: expected string, received undefined, b: Invalid input: expected number, received string";
        assert_eq!(found(comma), expected);
        let lines = "Invalid input: expected string, received undefined at a\nInvalid input: expected number, received string at b";
        assert_eq!(found(lines), expected);
    }

    #[test]
    fn zod_and_handwritten_messages_can_be_mixed() {
        let text = "vault: Say which vault: it is required; ask., Unrecognized keys: \"v\", \"w\"";
        let expected = [
            at("/vault", ErrorKind::MissingField),
            at("/v", ErrorKind::UnknownField),
            at("/w", ErrorKind::UnknownField),
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn nested_unrecognised_key_keeps_its_path() {
        assert_eq!(found("o: Unrecognized key: \"x\""), [at("/o/x", ErrorKind::UnknownField)]);
    }

    #[test]
    fn bulleted_list_is_parsed_line_by_line() {
        let expected = [at("/a", ErrorKind::MissingField), at("/b", ErrorKind::MissingField)];
        assert_eq!(found("\n- a: required\n- b: required"), expected);
        let repeated =
            recognise("Invalid argument: a: is required\nInvalid argument: b: is required");
        assert_eq!(repeated, expected);
    }

    #[test]
    fn name_for_the_whole_arguments_is_not_a_field() {
        let text = "Invalid argument: $root: struct is invalid";
        assert_eq!(recognise(text), [at("", ErrorKind::InvalidArguments)]);
    }

    #[test]
    fn only_zod_messages_are_recognised_without_a_prefix() {
        let zod = recognise("name: Invalid input: expected string, received null");
        assert_eq!(zod, [at("/name", wrong("string", "null"))]);
        for text in [
            "name: required",
            "note: it is required to look at this",
            "TypeError: Required",
            "Unrecognized key: \"x\"\nwhile reading vite.config",
            "status: unknown field",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
