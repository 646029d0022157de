//! Texts that list faults field by field, in zod's words or the server's own.
//!
//! `Invalid arguments for tool f: name: Invalid input: expected string, received null, Unrecognized
//! key: "x"`, `Invalid input: expected string, received undefined at name`, and lists such as
//! `- path: required`. This file takes the list apart; `zod_text` and `field_notes` read its items.

use super::lead_in::Message;
use super::tokens::{after, is_path};
use super::{About, Complaint, field_notes, place, zod_text};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let mut found = Vec::new();
    for note in notes(message.body) {
        let complaints = complaints(&note, message);
        // Unless the call is blamed, a text with anything else in it is not such a list.
        if complaints.is_empty() && !message.blames_the_call() {
            return Vec::new();
        }
        found.extend(complaints);
    }
    found
}

/// One fault: the field that it is about, and the words about it.
struct Note<'t> {
    field: &'t str,
    words: &'t str,
}

fn complaints(note: &Note<'_>, message: &Message<'_>) -> Vec<Complaint> {
    let blamed = message.blames_the_call();
    let parent = place::segments(note.field);
    let at = |path: &[String], about| place::complaint(path, message.scope, about);
    let keys = zod_text::unrecognised_keys(note.words);
    if !keys.is_empty() {
        let child = |key: String| [parent.as_slice(), &[key]].concat();
        return keys.into_iter().filter_map(|key| at(&child(key), About::UnknownField)).collect();
    }
    let about = zod_text::about(note.words, blamed).or_else(|| {
        // Words of the server's own choice mean something only beside a field.
        (blamed && !note.field.is_empty()).then(|| field_notes::about(note.words))
    });
    about.and_then(|about| at(&parent, about)).into_iter().collect()
}

fn notes(body: &str) -> Vec<Note<'_>> {
    let mut notes: Vec<Note<'_>> = Vec::new();
    for line in body.lines().map(without_bullet) {
        // Zod's pretty form puts the path on a line of its own.
        let path_line = line.strip_prefix("→ at ").filter(|path| is_path(path));
        match (path_line, notes.last_mut()) {
            (Some(path), Some(last)) => last.field = path,
            _ => notes.extend(split_line(line).into_iter().map(read_note)),
        }
    }
    notes
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let line = ["- ", "* ", "• ", "✖ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet))
        .unwrap_or(line);
    after(line, "invalid argument: ").unwrap_or(line)
}

/// Splits at those commas after which a new note begins.
fn split_line(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, comma) in line.match_indices(", ") {
        let next = at + comma.len();
        if line.get(next..).is_some_and(begins_a_note) {
            pieces.extend(line.get(start..at));
            start = next;
        }
    }
    pieces.extend(line.get(start..));
    pieces
}

fn begins_a_note(text: &str) -> bool {
    text.starts_with("Unrecognized key")
        || text.starts_with("Invalid input")
        || label(text).is_some()
}

fn read_note(text: &str) -> Note<'_> {
    if let Some((field, words)) = label(text) {
        return Note { field, words };
    }
    match text.rsplit_once(" at ") {
        Some((words, field)) if is_path(field) => Note { field, words },
        _ => Note { field: "", words: text },
    }
}

/// The field and the words of `field: words`.
fn label(text: &str) -> Option<(&str, &str)> {
    let end = text.find([' ', '\n']).unwrap_or(text.len());
    let field = text.get(..end)?.strip_suffix(':')?;
    let words = text.get(end..)?.trim_start();
    // `$first` and `$root` are what one Go library calls the whole.
    let field = if field.starts_with('$') && !field.starts_with("$.") { "" } else { field };
    let names_a_field = field.is_empty() || is_path(field) && !field.ends_with("rror");
    (names_a_field && !words.is_empty()).then_some((field, words))
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn found(body: &str) -> Vec<Complaint> {
        recognise(&format!("MCP error -32602: Invalid arguments for tool f: {body}"))
    }

    fn at(path: &str, about: About) -> Complaint {
        Complaint { about, path: path.into() }
    }

    fn wrong(expected: &str, received: &str) -> About {
        About::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn the_field_may_stand_before_or_after_the_words() {
        let expected = [at("/a/0", wrong("string", "null"))];
        assert_eq!(found("a[0]: Invalid input: expected string, received null"), expected);
        assert_eq!(found("Invalid input: expected string, received null at a[0]"), expected);
        assert_eq!(found("✖ Invalid input: expected string, received null\n  → at a[0]"), expected);
    }

    #[test]
    fn notes_joined_by_commas_or_lines_are_told_apart() {
        let expected = [at("/a", About::MissingField), at("/b", wrong("number", "string"))];
        let comma = "a: Invalid input: expected string, received undefined, b: Invalid input: expected number, received string";
        assert_eq!(found(comma), expected);
        let lines = "Invalid input: expected string, received undefined at a\nInvalid input: expected number, received string at b";
        assert_eq!(found(lines), expected);
    }

    #[test]
    fn zods_words_and_the_servers_own_may_be_mixed() {
        let text = "vault: Say which vault: it is required; ask., Unrecognized keys: \"v\", \"w\"";
        let expected = [
            at("/vault", About::MissingField),
            at("/v", About::UnknownField),
            at("/w", About::UnknownField),
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_nested_unrecognised_key_keeps_its_path() {
        assert_eq!(found("o: Unrecognized key: \"x\""), [at("/o/x", About::UnknownField)]);
    }

    #[test]
    fn a_bulleted_list_is_read_line_by_line() {
        let expected = [at("/a", About::MissingField), at("/b", About::MissingField)];
        assert_eq!(found("\n- a: required\n- b: required"), expected);
        let repeated =
            recognise("Invalid argument: a: is required\nInvalid argument: b: is required");
        assert_eq!(repeated, expected);
    }

    #[test]
    fn a_name_for_the_whole_is_no_field() {
        let text = "Invalid argument: $root: struct is invalid";
        assert_eq!(recognise(text), [at("", About::InvalidArguments)]);
    }

    #[test]
    fn without_blame_only_zods_own_words_are_believed() {
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
