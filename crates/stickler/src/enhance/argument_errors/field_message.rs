//! Classifies hand-written messages about a field, in texts that are about the arguments.
//!
//! `required`, `unknown field; did you mean 'path'?`, `expected text; got number`,
//! `'x' is not valid; use 'a' or 'b'`, `Vault id must be a string`.

use super::ErrorKind;
use super::tokens::{is_type_name, quoted_words};

pub(super) fn classify(words: &str) -> ErrorKind {
    let lower = words.to_ascii_lowercase();
    if is_unknown(&lower) {
        return ErrorKind::UnknownField;
    }
    if is_missing(&lower) {
        return ErrorKind::MissingField;
    }
    not_allowed(words, &lower)
        .or_else(|| expected_and_got(&lower))
        .or_else(|| must_be(&lower))
        .unwrap_or(ErrorKind::InvalidArguments)
}

fn is_unknown(lower: &str) -> bool {
    let openings = ["unknown ", "unexpected ", "unrecognized ", "unrecognised ", "not allowed"];
    let nouns = ["field", "parameter", "argument", "property", "key", "option"];
    openings.iter().any(|opening| {
        lower
            .strip_prefix(opening)
            .is_some_and(|rest| rest.is_empty() || nouns.iter().any(|noun| rest.starts_with(noun)))
    })
}

fn is_missing(lower: &str) -> bool {
    lower.starts_with("required")
        || lower.starts_with("missing")
        || ["is required", "field required", "must be provided", "is missing"]
            .iter()
            .any(|phrase| lower.contains(phrase))
}

/// `'x' is not valid; use 'a' or 'b'`, `must be one of: a, b`. Both texts differ only in ASCII
/// case, so an offset in one is valid in the other.
fn not_allowed(words: &str, lower: &str) -> Option<ErrorKind> {
    let openings = [
        "is not valid; use ",
        "must be one of",
        "should be one of",
        "expected one of",
        "is not one of",
    ];
    let start = openings.iter().find_map(|o| lower.find(o).map(|at| at + o.len()))?;
    let listed = words.get(start..)?;
    let quoted = quoted_words(listed);
    let bare = || {
        let list = listed.trim_matches([' ', ':', '.', '[', ']', '(', ')']);
        list.split([',', '|'])
            .map(|word| word.trim().to_owned())
            .filter(|w| !w.is_empty())
            .collect()
    };
    Some(ErrorKind::NotInEnum { allowed: if quoted.is_empty() { bare() } else { quoted } })
}

/// `expected text; got number`.
fn expected_and_got(lower: &str) -> Option<ErrorKind> {
    let rest = lower.strip_prefix("expected ")?;
    let separators =
        ["; got ", ", got ", " but got ", "; received ", ", received ", " but received "];
    let (expected, received) =
        separators.iter().find_map(|separator| rest.split_once(separator))?;
    let without_article =
        |words: &str| words.trim_start_matches("an ").trim_start_matches("a ").to_owned();
    let received = received.split(['.', ';', ' ']).next().map(str::to_owned);
    Some(ErrorKind::WrongType { expected: Some(without_article(expected)), received })
}

/// `must be a string`.
fn must_be(lower: &str) -> Option<ErrorKind> {
    let openings = [
        "must be a valid ",
        "must be a ",
        "must be an ",
        "must be ",
        "should be a ",
        "should be an ",
        "is not a ",
        "is not an ",
    ];
    let rest = openings.iter().find_map(|o| lower.split_once(o)).map(|(_, rest)| rest)?;
    let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    is_type_name(word)
        .then(|| ErrorKind::WrongType { expected: Some(word.to_owned()), received: None })
}

#[cfg(test)]
mod tests {
    use super::classify;
    use crate::enhance::argument_errors::ErrorKind;

    fn wrong(expected: &str, received: Option<&str>) -> ErrorKind {
        ErrorKind::WrongType {
            expected: Some(expected.into()),
            received: received.map(str::to_owned),
        }
    }

    #[test]
    fn missing_fields_are_classified() {
        for words in [
            "required",
            "is required",
            "The id is required; ask.",
            "Missing value",
            "Field required",
        ] {
            assert_eq!(classify(words), ErrorKind::MissingField, "{words}");
        }
    }

    #[test]
    fn unknown_fields_are_classified() {
        for words in ["unknown field; did you mean 'y'?", "Unexpected argument", "not allowed"] {
            assert_eq!(classify(words), ErrorKind::UnknownField, "{words}");
        }
        assert_eq!(classify("unknown host"), ErrorKind::InvalidArguments);
    }

    #[test]
    fn wrong_types_are_classified() {
        assert_eq!(classify("expected text; got number"), wrong("text", Some("number")));
        assert_eq!(classify("Expected a list but got str."), wrong("list", Some("str")));
        assert_eq!(classify("Vault id must be a string from the list."), wrong("string", None));
    }

    #[test]
    fn disallowed_values_are_classified_with_the_allowed_ones() {
        let allowed = ErrorKind::NotInEnum { allowed: vec!["A".into(), "b".into()] };
        assert_eq!(classify("'z' is not valid; use 'A' or 'b'."), allowed);
        assert_eq!(classify("must be one of: A, b"), allowed);
    }

    #[test]
    fn other_messages_are_classified_as_invalid_arguments() {
        assert_eq!(classify("Path '12' is not absolute"), ErrorKind::InvalidArguments);
        assert_eq!(classify("must be positive"), ErrorKind::InvalidArguments);
    }
}
