//! Classifies the messages of zod (versions 3 and 4), without the field.
//!
//! `Invalid input: expected string, received undefined`, `Unrecognized key: "x"`,
//! `Invalid option: expected one of "a"|"b"`, `Invalid enum value. Expected 'a' | 'b', received
//! 'c'`, `Expected string, received number`, `Required`.

use super::ErrorKind;
use super::tokens::{is_type_name, quoted_words};

/// Classifies a message. Ambiguous messages are recognised only with `is_about_call`, which means
/// that the text is known to be about the call.
pub(super) fn classify(words: &str, is_about_call: bool) -> Option<ErrorKind> {
    let words = words.trim_end_matches('.');
    if let Some(options) = words.strip_prefix("Invalid option: expected one of ") {
        return Some(ErrorKind::NotInEnum { allowed: quoted_words(options) });
    }
    if let Some(rest) = words.strip_prefix("Invalid enum value. Expected ") {
        let (options, _) = rest.rsplit_once(", received ")?;
        return Some(ErrorKind::NotInEnum { allowed: quoted_words(options) });
    }
    if let Some(rest) = words.strip_prefix("Invalid input: expected ") {
        return Some(expected_and_received(rest));
    }
    if let Some(rest) = words.strip_prefix("Expected ") {
        let (expected, received) = rest.rsplit_once(", received ")?;
        let is_zod_message =
            is_type_name(received) && (is_type_name(expected) || expected.contains('\''));
        return is_zod_message.then(|| expected_and_received(rest));
    }
    match words {
        "Required" if is_about_call => Some(ErrorKind::MissingField),
        "Invalid input" if is_about_call => Some(ErrorKind::InvalidArguments),
        _ => None,
    }
}

/// Returns the keys of `Unrecognized key: "x"` or `Unrecognized key(s) in object: 'x', 'y'`.
pub(super) fn unrecognised_keys(words: &str) -> Vec<String> {
    let openings = ["Unrecognized key: ", "Unrecognized keys: ", "Unrecognized key(s) in object: "];
    let keys = openings.iter().find_map(|opening| words.strip_prefix(opening));
    keys.map(quoted_words).unwrap_or_default()
}

/// Parses `string, received number`. A single literal (`"a"`) is the only allowed value.
fn expected_and_received(words: &str) -> ErrorKind {
    let Some((expected, received)) = words.rsplit_once(", received ") else {
        let allowed = quoted_words(words);
        let expected = Some(words.to_owned());
        return if allowed.is_empty() {
            ErrorKind::WrongType { expected, received: None }
        } else {
            ErrorKind::NotInEnum { allowed }
        };
    };
    if received == "undefined" {
        return ErrorKind::MissingField;
    }
    ErrorKind::WrongType {
        expected: Some(expected.to_owned()),
        received: Some(received.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{classify, unrecognised_keys};
    use crate::enhance::argument_errors::ErrorKind;

    fn wrong(expected: &str, received: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn wrong_types_of_both_versions_are_recognised() {
        let newer = classify("Invalid input: expected number, received NaN", false);
        assert_eq!(newer, Some(wrong("number", "NaN")));
        assert_eq!(
            classify("Expected string, received number", false),
            Some(wrong("string", "number"))
        );
        let enumerated = classify("Expected 'a' | 'b', received null", false);
        assert_eq!(enumerated, Some(wrong("'a' | 'b'", "null")));
    }

    #[test]
    fn undefined_value_is_a_missing_field() {
        let missing = classify("Invalid input: expected array, received undefined", false);
        assert_eq!(missing, Some(ErrorKind::MissingField));
        assert_eq!(classify("Required", true), Some(ErrorKind::MissingField));
        assert_eq!(classify("Required", false), None);
    }

    #[test]
    fn allowed_values_of_both_versions_are_recognised() {
        let allowed = ErrorKind::NotInEnum { allowed: vec!["a b".into(), "c".into()] };
        let newer = classify("Invalid option: expected one of \"a b\"|\"c\"", false);
        assert_eq!(newer.as_ref(), Some(&allowed));
        let older = classify("Invalid enum value. Expected 'a b' | 'c', received 'd'", false);
        assert_eq!(older, Some(allowed));
        let only = classify("Invalid input: expected \"x\"", false);
        assert_eq!(only, Some(ErrorKind::NotInEnum { allowed: vec!["x".into()] }));
    }

    #[test]
    fn unrecognised_keys_of_both_versions_are_recognised() {
        assert_eq!(unrecognised_keys("Unrecognized key: \"x\""), ["x"]);
        assert_eq!(unrecognised_keys("Unrecognized key(s) in object: 'x', 'y'"), ["x", "y"]);
        assert!(unrecognised_keys("Unrecognized key binding").is_empty());
    }

    #[test]
    fn expectations_about_other_subjects_are_ignored() {
        assert_eq!(classify("Expected 200, received 404", false), None);
        assert_eq!(classify("Expected a reply, received silence", true), None);
        assert_eq!(classify("Invalid input", false), None);
    }
}
