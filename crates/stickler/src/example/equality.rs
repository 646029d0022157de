//! JSON Schema equality of values, where `1` and `1.0` are the same number.
//!
//! `serde_json` keeps the two apart, so `==` would refuse an `enum` or `const`
//! value that every validator accepts.

use serde_json::Value;

use super::decimal::Decimal;

/// Whether JSON Schema holds the two values to be equal.
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

/// Whether `wanted` is among `values`.
pub(super) fn contains_same(values: &[Value], wanted: &Value) -> bool {
    values.iter().any(|value| same(value, wanted))
}

#[cfg(test)]
mod tests {
    use super::{contains_same, same};
    use serde_json::json;

    #[test]
    fn an_integer_equals_its_floating_form_at_any_depth() {
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
