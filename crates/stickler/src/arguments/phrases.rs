//! Phrases that the messages in [`wording`](super::wording) are composed of: articles, lists of names,
//! advice, and values cut to a readable length.

use serde_json::Value;

use super::field_matches::{FieldMatch, Place, Target};
use crate::tape::Node;

/// Maximum number of characters of a value in a message.
pub(super) const MAX_VALUE_CHARS: usize = 60;

/// Maximum number of allowed values or names that a message lists.
pub(super) const MAX_LISTED_VALUES: usize = 20;

/// Prefixes the article: `a string`, `an integer or null`.
pub(super) fn with_article(noun: &str) -> String {
    let article = match noun {
        "nothing" | "null" | "any value" | "a value" => "",
        _ if noun.starts_with("one of ") || noun.starts_with(['"', '`', '{', '[', '-']) => "",
        _ if noun.starts_with(|first: char| first.is_ascii_digit()) => "",
        _ if noun.starts_with(['a', 'i', 'o']) => "an ",
        _ => "a ",
    };
    format!("{article}{noun}")
}

/// The prefixes of requirements (after "must") and their form after "expected".
const REQUIREMENTS: [(&str, &str); 10] = [
    ("be left out", "nothing"),
    ("be simpler", "something simpler"),
    ("be encoded ", "text encoded "),
    ("be ", ""),
    ("have ", ""),
    ("match ", ""),
    ("contain ", ""),
    ("decode to ", ""),
    ("not match ", "no match for "),
    ("satisfy ", "something that satisfies "),
];

/// Rephrases a requirement to follow "expected": `be at least 3` becomes `at least 3`.
pub(super) fn expected_by(requirement: &str) -> String {
    let known = REQUIREMENTS
        .iter()
        .find_map(|(verb, noun)| Some(format!("{noun}{}", requirement.strip_prefix(verb)?)));
    known.unwrap_or_else(|| format!("it to {requirement}"))
}

pub(super) fn one_of(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        [only] => listed(&[*only]),
        names => format!("one of {}", listed(names)),
    }
}

/// Returns what to do about an unexpected field: use the field that was meant, consider the ones that may
/// have been meant, or choose from the valid ones.
pub(super) fn advice(found: &FieldMatch, valid: &[&str], without_others: &str) -> String {
    match (&found.target, found.suggestions.as_slice(), valid) {
        (Some(Target { place: Place::Unwrapped(names), .. }), ..) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("put its fields directly into the object around it, as {}.", listed(&names))
        }
        (Some(target), [best, ..], _) => match (&target.place, &target.missing) {
            (Place::Inside(object), _) => {
                format!("it belongs in `{object}`: did you mean `{best}`?")
            }
            (Place::Around, _) => {
                format!("did you mean `{}` of the object around it?", target.name)
            }
            (Place::Same | Place::Unwrapped(_), Some(expected)) => {
                format!("did you mean `{best}` ({expected}, required)?")
            }
            (Place::Same | Place::Unwrapped(_), None) => format!("did you mean `{best}`?"),
        },
        (None, [only], _) => {
            format!("the closest field is `{only}`; check that it is the one meant.")
        }
        (None, several @ [_, ..], _) => {
            let names: Vec<&str> = several.iter().map(String::as_str).collect();
            format!("the closest fields are {}; check which one is meant.", listed(&names))
        }
        (_, [], []) => without_others.to_owned(),
        (_, [], valid) => {
            format!("no field corresponds to it; valid fields: {}.", listed(valid))
        }
    }
}

fn listed(names: &[&str]) -> String {
    let few: Vec<String> = names
        .iter()
        .take(MAX_LISTED_VALUES)
        .map(|name| format!("`{}`", cut(name, MAX_VALUE_CHARS)))
        .collect();
    let more = if names.len() > MAX_LISTED_VALUES { ", …" } else { "" };
    format!("{}{more}", few.join(", "))
}

/// Returns a value as JSON, cut to a length that fits into a message.
pub(crate) fn literal(value: &Value) -> String {
    cut(&value.to_string(), MAX_VALUE_CHARS)
}

/// Returns a string without its quotes, or any other value as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn plain(value: Node<'_>) -> String {
    value.as_str().map_or_else(|| value.raw().to_owned(), std::borrow::Cow::into_owned)
}

/// Cuts a text to a number of characters and marks the cut with an ellipsis.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
