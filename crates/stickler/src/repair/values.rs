//! Converts values of the wrong type or form if their meaning is unambiguous.

use serde_json::Value;

use super::edit::EditKind;
use crate::arguments::ComparisonBudgets;
use crate::embedded::{parse_as, parse_written_as};
use crate::tape::{Kind, Node, quote};

/// Words that programming languages use for the absence of a value.
const NO_VALUE_WORDS: &[&str] = &["nil", "none", "null", "undefined"];

/// A value in another form.
pub(super) struct Converted {
    pub(super) kind: EditKind,
    /// The JSON text of the new value.
    pub(super) text: String,
    /// Whether no other form could be meant.
    pub(super) is_unambiguous: bool,
}

impl Converted {
    fn certain(kind: EditKind, text: String) -> Self {
        Self { kind, text, is_unambiguous: true }
    }

    fn likely(kind: EditKind, text: String) -> Self {
        Self { kind, text, is_unambiguous: false }
    }
}

/// Converts the value to one of the types. `keywords` is the schema of the value, if known.
pub(super) fn convert(
    value: Node<'_>,
    types: &[&str],
    keywords: Option<&Value>,
) -> Option<Converted> {
    let accepts = |name: &str| types.contains(&name);
    match value.kind() {
        Kind::String => {
            let text = value.as_str()?;
            if let Some(inner) = parse_as(&text, types) {
                return Some(Converted::certain(EditKind::Unstringify, inner));
            }
            if let Some(inner) = parse_written_as(&text, types) {
                return Some(Converted::likely(EditKind::Unstringify, inner));
            }
            let split = || split_list(&text, keywords).filter(|_| accepts("array"));
            let wrapped = || Converted { is_unambiguous: is_single_item(&text), ..wrap(value) };
            split().or_else(|| accepts("array").then(wrapped))
        }
        Kind::Number | Kind::Boolean if accepts("string") => {
            let is_unambiguous = types.iter().all(|name| matches!(*name, "string" | "null"));
            let text = quote(value.raw());
            Some(Converted { kind: EditKind::Stringify, text, is_unambiguous })
        }
        Kind::Number | Kind::Boolean if accepts("array") => Some(wrap(value)),
        Kind::Object if accepts("array") => {
            Some(Converted::likely(EditKind::WrapInArray, format!("[{}]", value.raw())))
        }
        Kind::Array if value.len() == 1 && !accepts("array") => unwrap_element(value, types),
        Kind::Array if accepts("string") && mentions(keywords, "comma") => join_list(value),
        Kind::Object | Kind::Array if accepts("string") && mentions(keywords, "json") => {
            Some(Converted::likely(EditKind::Stringify, quote(value.raw())))
        }
        _ => None,
    }
}

fn wrap(value: Node<'_>) -> Converted {
    Converted::certain(EditKind::WrapInArray, format!("[{}]", value.raw()))
}

/// Returns whether a text can only be one item of a list: it is neither a way to write that there is no value, nor
/// a list or structure in another notation.
fn is_single_item(text: &str) -> bool {
    let text = text.trim();
    let is_no_value =
        NO_VALUE_WORDS.iter().any(|word| text.is_empty() || text.eq_ignore_ascii_case(word));
    !is_no_value
        && !text.contains([',', ';', '|', '\n'])
        && !text.starts_with(['[', '{', '(', '"', '\''])
}

/// Returns the only element of an array, if it has one of the types.
fn unwrap_element(value: Node<'_>, types: &[&str]) -> Option<Converted> {
    let only = value.elements().next()?;
    let named = only.type_name();
    let fits = types.contains(&named) || named == "integer" && types.contains(&"number");
    fits.then(|| Converted::certain(EditKind::UnwrapElement, only.raw().to_owned()))
}

/// Splits a comma-separated text whose parts are single words or numbers. Text with spaces in its parts
/// may be one value that contains a comma, and so may text that is capitalised like a sentence.
fn split_list(text: &str, keywords: Option<&Value>) -> Option<Converted> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_word = |part: &&str| !part.is_empty() && !part.contains(char::is_whitespace);
    if parts.len() < 2 || !parts.iter().all(is_word) || is_sentence(text, &parts) {
        return None;
    }
    let item_type = keywords.and_then(|schema| schema.get("items")?.get("type")?.as_str());
    let numbers: Option<Vec<String>> =
        parts.iter().map(|part| parse_as(part, &["integer", "number"])).collect();
    let items = match item_type {
        Some("integer" | "number") => numbers?,
        _ => parts.iter().map(|part| quote(part)).collect(),
    };
    Some(Converted::likely(EditKind::SplitList, format!("[{}]", items.join(","))))
}

/// Returns whether a space follows the commas and only the first part is capitalised: `Hello, world`.
fn is_sentence(text: &str, parts: &[&str]) -> bool {
    let mut capitals = parts.iter().map(|part| part.starts_with(char::is_uppercase));
    text.contains(", ") && capitals.next() == Some(true) && capitals.all(|is_capital| !is_capital)
}

/// Joins the elements of an array to a comma-separated text.
fn join_list(value: Node<'_>) -> Option<Converted> {
    let parts: Option<Vec<String>> = value
        .elements()
        .map(|element| match element.kind() {
            Kind::String => element.as_str().map(std::borrow::Cow::into_owned),
            Kind::Number => Some(element.raw().to_owned()),
            _ => None,
        })
        .collect();
    let parts = parts.filter(|parts| parts.iter().all(|part| !part.contains(',')))?;
    Some(Converted::likely(EditKind::JoinList, quote(&parts.join(","))))
}

/// Returns whether the description of a field contains a word.
fn mentions(keywords: Option<&Value>, word: &str) -> bool {
    let description = keywords.and_then(|schema| schema.get("description")?.as_str());
    description.is_some_and(|text| {
        text.split(|c: char| !c.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word))
    })
}

/// Returns the allowed value with the same text but another type: `2` for `"2"`, `"true"` for `true`.
/// `options` is an `enum`, a `const`, or the branches of a choice.
pub(super) fn convert_to_allowed(
    value: Node<'_>,
    options: &Value,
    comparisons: &ComparisonBudgets,
) -> Option<(EditKind, String)> {
    let string = value.as_str();
    let text = string.as_deref().unwrap_or(value.raw());
    let mut allowed = Vec::new();
    flatten(options, &mut allowed);
    if !comparisons.take_value_comparisons(allowed.len()) {
        return None;
    }
    allowed.into_iter().find_map(|option| match (option, &string) {
        (Value::String(option), None) if option == text => Some((EditKind::Stringify, quote(text))),
        (Value::Number(_) | Value::Bool(_), Some(_)) if is_written_as(option, text) => {
            Some((EditKind::Unstringify, text.to_owned()))
        }
        _ => None,
    })
}

/// Whether the JSON text of an allowed value equals the text of a string.
fn is_written_as(option: &Value, text: &str) -> bool {
    let written = option.to_string();
    written == text
}

/// Collects the scalar values that the options allow.
pub(super) fn flatten<'v>(options: &'v Value, allowed: &mut Vec<&'v Value>) {
    match options {
        Value::Array(several) => several.iter().for_each(|option| flatten(option, allowed)),
        Value::Object(branch) => {
            let inner = branch.get("const").or_else(|| branch.get("enum"));
            if let Some(option) = inner {
                flatten(option, allowed);
            }
        }
        scalar => allowed.push(scalar),
    }
}
