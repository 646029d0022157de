//! Equality of JSON values as defined by JSON Schema, where `1` equals `1.0`.
//!
//! `serde_json` distinguishes the two, so `==` would reject an `enum` or `const` value that every
//! validator accepts.

use serde_json::Value;

use super::decimal::Decimal;

/// Whether two values are equal according to JSON Schema.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || Decimal::of(left).zip(Decimal::of(right)).is_some_and(|(a, b)| a.equals(b))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

/// Whether `values` contains a value equal to `sought`.
pub(super) fn contains_same(values: &[Value], sought: &Value) -> bool {
    values.iter().any(|value| same(value, sought))
}

#[cfg(test)]
mod tests {
    use super::{contains_same, same};
    use serde_json::json;

    #[test]
    fn integer_equals_its_float_form_at_any_depth() {
        assert!(same(&json!({"a": [1]}), &json!({"a": [1.0]})));
        assert!(contains_same(&[json!(2.0)], &json!(2)));
    }

    #[test]
    fn different_kinds_and_lengths_differ() {
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(&json!([1]), &json!([1, 1])));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
    }
}
