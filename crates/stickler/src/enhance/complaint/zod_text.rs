//! Zod's messages (version 3 and 4) as plain words, without the field that they are about.
//!
//! `Invalid input: expected string, received undefined`, `Unrecognized key: "x"`,
//! `Invalid option: expected one of "a"|"b"`, `Invalid enum value. Expected 'a' | 'b', received
//! 'c'`, `Expected string, received number`, `Required`.

use super::About;
use super::tokens::{is_type_name, quoted};

/// What the words complain about. `blamed` tells that the server says the call is at fault; words
/// that could mean anything count only then.
pub(super) fn about(words: &str, blamed: bool) -> Option<About> {
    let words = words.trim_end_matches('.');
    if let Some(options) = words.strip_prefix("Invalid option: expected one of ") {
        return Some(About::NotInEnum { allowed: quoted(options) });
    }
    if let Some(rest) = words.strip_prefix("Invalid enum value. Expected ") {
        let (options, _) = rest.rsplit_once(", received ")?;
        return Some(About::NotInEnum { allowed: quoted(options) });
    }
    if let Some(rest) = words.strip_prefix("Invalid input: expected ") {
        return Some(expected_and_received(rest));
    }
    if let Some(rest) = words.strip_prefix("Expected ") {
        let (expected, received) = rest.rsplit_once(", received ")?;
        let is_zods = is_type_name(received) && (is_type_name(expected) || expected.contains('\''));
        return is_zods.then(|| expected_and_received(rest));
    }
    match words {
        "Required" if blamed => Some(About::MissingField),
        "Invalid input" if blamed => Some(About::InvalidArguments),
        _ => None,
    }
}

/// The keys of `Unrecognized key: "x"` or `Unrecognized key(s) in object: 'x', 'y'`.
pub(super) fn unrecognised_keys(words: &str) -> Vec<String> {
    let openings = ["Unrecognized key: ", "Unrecognized keys: ", "Unrecognized key(s) in object: "];
    let keys = openings.iter().find_map(|opening| words.strip_prefix(opening));
    keys.map(quoted).unwrap_or_default()
}

/// Reads `string, received number`; a lone literal (`"a"`) is the only allowed value.
fn expected_and_received(words: &str) -> About {
    let Some((expected, received)) = words.rsplit_once(", received ") else {
        let allowed = quoted(words);
        let expected = Some(words.to_owned());
        return if allowed.is_empty() {
            About::WrongType { expected, received: None }
        } else {
            About::NotInEnum { allowed }
        };
    };
    if received == "undefined" {
        return About::MissingField;
    }
    About::WrongType { expected: Some(expected.to_owned()), received: Some(received.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::{about, unrecognised_keys};
    use crate::enhance::complaint::About;

    fn wrong(expected: &str, received: &str) -> About {
        About::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn either_version_tells_a_wrong_type() {
        let newer = about("Invalid input: expected number, received NaN", false);
        assert_eq!(newer, Some(wrong("number", "NaN")));
        assert_eq!(
            about("Expected string, received number", false),
            Some(wrong("string", "number"))
        );
        let enumerated = about("Expected 'a' | 'b', received null", false);
        assert_eq!(enumerated, Some(wrong("'a' | 'b'", "null")));
    }

    #[test]
    fn what_was_undefined_is_missing() {
        let missing = about("Invalid input: expected array, received undefined", false);
        assert_eq!(missing, Some(About::MissingField));
        assert_eq!(about("Required", true), Some(About::MissingField));
        assert_eq!(about("Required", false), None);
    }

    #[test]
    fn either_version_lists_the_allowed_values() {
        let allowed = About::NotInEnum { allowed: vec!["a b".into(), "c".into()] };
        let newer = about("Invalid option: expected one of \"a b\"|\"c\"", false);
        assert_eq!(newer.as_ref(), Some(&allowed));
        let older = about("Invalid enum value. Expected 'a b' | 'c', received 'd'", false);
        assert_eq!(older, Some(allowed));
        let only = about("Invalid input: expected \"x\"", false);
        assert_eq!(only, Some(About::NotInEnum { allowed: vec!["x".into()] }));
    }

    #[test]
    fn either_version_names_the_unrecognised_keys() {
        assert_eq!(unrecognised_keys("Unrecognized key: \"x\""), ["x"]);
        assert_eq!(unrecognised_keys("Unrecognized key(s) in object: 'x', 'y'"), ["x", "y"]);
        assert!(unrecognised_keys("Unrecognized key binding").is_empty());
    }

    #[test]
    fn expectations_about_other_things_are_left() {
        assert_eq!(about("Expected 200, received 404", false), None);
        assert_eq!(about("Expected a reply, received silence", true), None);
        assert_eq!(about("Invalid input", false), None);
    }
}
