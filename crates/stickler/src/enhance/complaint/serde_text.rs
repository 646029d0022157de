//! Serde's messages, as rmcp servers pass them on.
//!
//! ``failed to deserialize parameters: missing field `name` ``,
//! ``unknown field `x`, expected one of `a`, `b` ``, `invalid type: string "x", expected u64`.

use super::lead_in::Message;
use super::tokens::{is_path, quoted};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let line = message.body.lines().next().unwrap_or_default();
    let (parent, words) = path_before(line);
    let (words, parsed_text) = without_position(words);
    // Arguments arrive parsed. A position means that some text was parsed, a file or an upstream
    // answer; what looks like a path may be that file, and more lines tell of the attempt. Then
    // the server has to say that it means the arguments.
    let doubtful = parsed_text || !parent.is_empty() || !message.is_one_line();
    if doubtful && !message.blames_the_call() {
        return Vec::new();
    }
    let complaint = fault(words).and_then(|(about, child)| {
        let mut path = place::segments(parent);
        path.extend(child);
        place::complaint(&path, message.scope, about)
    });
    complaint.into_iter().collect()
}

/// Servers that track where they are write `a.b[0]: ` before serde's own words.
fn path_before(line: &str) -> (&str, &str) {
    match line.split_once(": ") {
        Some((path, words)) if is_path(path) => (path, words),
        _ => ("", line),
    }
}

/// Drops ` at line 1 column 7`, and tells whether it was there.
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

/// What serde's words say, and the child that they name.
fn fault(words: &str) -> Option<(About, Option<String>)> {
    if let Some(rest) = words.strip_prefix("missing field ") {
        let (field, rest) = in_backticks(rest)?;
        return rest.is_empty().then(|| (About::MissingField, Some(field.to_owned())));
    }
    if let Some(rest) = words.strip_prefix("unknown field ") {
        let (field, rest) = in_backticks(rest)?;
        let ends_well = rest.starts_with(", expected ") || rest == ", there are no fields";
        return ends_well.then(|| (About::UnknownField, Some(field.to_owned())));
    }
    if let Some(rest) = words.strip_prefix("unknown variant ") {
        let (_, rest) = in_backticks(rest)?;
        let allowed = rest.strip_prefix(", expected ")?;
        return Some((About::NotInEnum { allowed: quoted(allowed) }, None));
    }
    let (received, expected) = words.strip_prefix("invalid type: ")?.rsplit_once(", expected ")?;
    let received = received.split(['`', '"']).next().map(|word| word.trim().to_owned());
    Some((About::WrongType { expected: Some(expected.to_owned()), received }, None))
}

fn in_backticks(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn at(path: &str, about: About) -> Complaint {
        Complaint { about, path: path.into() }
    }

    #[test]
    fn a_missing_field_is_found_with_or_without_lead_in() {
        let missing = at("/name", About::MissingField);
        for text in
            ["missing field `name`", "failed to deserialize parameters: missing field `name`"]
        {
            assert_eq!(recognise(text), std::slice::from_ref(&missing), "{text}");
        }
    }

    #[test]
    fn an_unknown_field_is_found_whatever_is_expected() {
        for tail in [
            "expected `a`",
            "expected `a` or `b`",
            "expected one of `a`, `b`, `c`",
            "there are no fields",
        ] {
            let found = recognise(&format!("unknown field `x`, {tail}"));
            assert_eq!(found, [at("/x", About::UnknownField)], "{tail}");
        }
    }

    #[test]
    fn a_wrong_type_is_told_whatever_the_value_holds() {
        let found = recognise("invalid type: string \"a, expected b\", expected u64");
        let about =
            About::WrongType { expected: Some("u64".into()), received: Some("string".into()) };
        assert_eq!(found, [at("", about)]);
    }

    #[test]
    fn the_variants_are_listed() {
        let found = recognise(
            "failed to deserialize parameters: unknown variant `z`, expected one of `p`, `q`, `r`",
        );
        let allowed = vec!["p".into(), "q".into(), "r".into()];
        assert_eq!(found, [at("", About::NotInEnum { allowed })]);
    }

    #[test]
    fn a_path_before_the_words_is_kept() {
        let found = recognise("Invalid params: items[0].o: missing field `n`");
        assert_eq!(found, [at("/items/0/o/n", About::MissingField)]);
    }

    #[test]
    fn a_position_is_dropped_where_the_arguments_are_blamed_and_not_believed_elsewhere() {
        let text = "missing field `n` at line 1 column 9";
        assert_eq!(recognise(text), []);
        let blamed = recognise(&format!("Invalid arguments: {text}"));
        assert_eq!(blamed, [at("/n", About::MissingField)]);
    }

    #[test]
    fn serdes_words_inside_other_text_are_left() {
        assert_eq!(recognise("could not read settings: missing field `n`"), []);
        assert_eq!(recognise("settings.json: missing field `n`"), []);
        assert_eq!(recognise("missing field `n`\nwhile loading settings"), []);
        assert_eq!(recognise("missing field `n` in the form you posted"), []);
    }
}
