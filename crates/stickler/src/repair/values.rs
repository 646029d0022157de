//! Values of the wrong type that can only have meant one thing.

use serde_json::Value;

use super::edit::EditKind;
use crate::arguments::Effort;
use crate::embedded::parse_as;
use crate::tape::{Kind, Node, quote};

/// The value as one of the wanted types, and how it became one.
pub(super) fn convert(value: Node<'_>, wanted: &[&str]) -> Option<(EditKind, String)> {
    let wants = |name: &str| wanted.contains(&name);
    match value.kind() {
        Kind::String => {
            let inner = value.as_str().and_then(|text| parse_as(&text, wanted));
            let unstringified = inner.map(|text| (EditKind::Unstringify, text));
            unstringified.or_else(|| wants("array").then(|| wrap(value)))
        }
        Kind::Number | Kind::Boolean if wants("string") => {
            Some((EditKind::Stringify, quote(value.raw())))
        }
        Kind::Number | Kind::Boolean if wants("array") => Some(wrap(value)),
        _ => None,
    }
}

fn wrap(value: Node<'_>) -> (EditKind, String) {
    (EditKind::WrapInArray, format!("[{}]", value.raw()))
}

/// An allowed value that is written the same but has another type: `"2"` for `2`, `true` for
/// `"true"`. `options` is an `enum`, a `const`, or the branches of a choice.
pub(super) fn respell(
    value: Node<'_>,
    options: &Value,
    effort: &Effort,
) -> Option<(EditKind, String)> {
    let given = value.as_str();
    let written = given.as_deref().unwrap_or(value.raw());
    let mut allowed = Vec::new();
    flatten(options, &mut allowed);
    if !effort.may_try_values(allowed.len()) {
        return None;
    }
    allowed.into_iter().find_map(|option| match (option, &given) {
        (Value::String(text), None) if text == written => {
            Some((EditKind::Stringify, quote(written)))
        }
        (Value::Number(_) | Value::Bool(_), Some(_)) if spelling(option) == written => {
            Some((EditKind::Unstringify, written.to_owned()))
        }
        _ => None,
    })
}

/// A value as JSON writes it.
fn spelling(value: &Value) -> String {
    value.to_string()
}

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
