//! Converts values of the wrong type if their meaning is unambiguous.

use serde_json::Value;

use super::edit::EditKind;
use crate::arguments::ComparisonBudgets;
use crate::embedded::parse_as;
use crate::tape::{Kind, Node, quote};

/// Converts the value to one of the types, and returns the kind of edit and the new JSON text.
pub(super) fn convert(value: Node<'_>, types: &[&str]) -> Option<(EditKind, String)> {
    let accepts = |name: &str| types.contains(&name);
    match value.kind() {
        Kind::String => {
            let inner = value.as_str().and_then(|text| parse_as(&text, types));
            let unstringified = inner.map(|text| (EditKind::Unstringify, text));
            unstringified.or_else(|| accepts("array").then(|| wrap(value)))
        }
        Kind::Number | Kind::Boolean if accepts("string") => {
            Some((EditKind::Stringify, quote(value.raw())))
        }
        Kind::Number | Kind::Boolean if accepts("array") => Some(wrap(value)),
        _ => None,
    }
}

fn wrap(value: Node<'_>) -> (EditKind, String) {
    (EditKind::WrapInArray, format!("[{}]", value.raw()))
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
fn flatten<'v>(options: &'v Value, allowed: &mut Vec<&'v Value>) {
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
