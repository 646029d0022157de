//! What hand-written words beside a field's name say, in a text that blames the arguments.
//!
//! `required`, `unknown field; did you mean 'path'?`, `expected text; got number`,
//! `'x' is not valid; use 'a' or 'b'`, `Vault id must be a string`.

use super::About;
use super::tokens::{is_type_name, quoted};

pub(super) fn about(words: &str) -> About {
    let lower = words.to_ascii_lowercase();
    if is_unknown(&lower) {
        return About::UnknownField;
    }
    if is_missing(&lower) {
        return About::MissingField;
    }
    not_allowed(words, &lower)
        .or_else(|| expected_and_got(&lower))
        .or_else(|| must_be(&lower))
        .unwrap_or(About::InvalidArguments)
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

/// `'x' is not valid; use 'a' or 'b'`, `must be one of: a, b`. Both texts have the same bytes but
/// for case, so a place found in one is the same place in the other.
fn not_allowed(words: &str, lower: &str) -> Option<About> {
    let openings = [
        "is not valid; use ",
        "must be one of",
        "should be one of",
        "expected one of",
        "is not one of",
    ];
    let start = openings.iter().find_map(|o| lower.find(o).map(|at| at + o.len()))?;
    let listed = words.get(start..)?;
    let quoted = quoted(listed);
    let bare = || {
        let list = listed.trim_matches([' ', ':', '.', '[', ']', '(', ')']);
        list.split([',', '|'])
            .map(|word| word.trim().to_owned())
            .filter(|w| !w.is_empty())
            .collect()
    };
    Some(About::NotInEnum { allowed: if quoted.is_empty() { bare() } else { quoted } })
}

/// `expected text; got number`.
fn expected_and_got(lower: &str) -> Option<About> {
    let rest = lower.strip_prefix("expected ")?;
    let joints = ["; got ", ", got ", " but got ", "; received ", ", received ", " but received "];
    let (expected, received) = joints.iter().find_map(|joint| rest.split_once(joint))?;
    let without_article =
        |words: &str| words.trim_start_matches("an ").trim_start_matches("a ").to_owned();
    let received = received.split(['.', ';', ' ']).next().map(str::to_owned);
    Some(About::WrongType { expected: Some(without_article(expected)), received })
}

/// `must be a string`.
fn must_be(lower: &str) -> Option<About> {
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
    is_type_name(word).then(|| About::WrongType { expected: Some(word.to_owned()), received: None })
}

#[cfg(test)]
mod tests {
    use super::about;
    use crate::enhance::complaint::About;

    fn wrong(expected: &str, received: Option<&str>) -> About {
        About::WrongType { expected: Some(expected.into()), received: received.map(str::to_owned) }
    }

    #[test]
    fn words_for_missing() {
        for words in [
            "required",
            "is required",
            "The id is required; ask.",
            "Missing value",
            "Field required",
        ] {
            assert_eq!(about(words), About::MissingField, "{words}");
        }
    }

    #[test]
    fn words_for_unknown() {
        for words in ["unknown field; did you mean 'y'?", "Unexpected argument", "not allowed"] {
            assert_eq!(about(words), About::UnknownField, "{words}");
        }
        assert_eq!(about("unknown host"), About::InvalidArguments);
    }

    #[test]
    fn words_for_a_wrong_type() {
        assert_eq!(about("expected text; got number"), wrong("text", Some("number")));
        assert_eq!(about("Expected a list but got str."), wrong("list", Some("str")));
        assert_eq!(about("Vault id must be a string from the list."), wrong("string", None));
    }

    #[test]
    fn words_for_values_that_are_not_allowed() {
        let allowed = About::NotInEnum { allowed: vec!["A".into(), "b".into()] };
        assert_eq!(about("'z' is not valid; use 'A' or 'b'."), allowed);
        assert_eq!(about("must be one of: A, b"), allowed);
    }

    #[test]
    fn any_other_words_only_tell_that_the_value_is_invalid() {
        assert_eq!(about("Path '12' is not absolute"), About::InvalidArguments);
        assert_eq!(about("must be positive"), About::InvalidArguments);
    }
}
