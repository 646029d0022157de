//! Merges the keywords of two schemas that must both be satisfied.
//!
//! A generator that follows one branch at a time would violate the others. With a merged schema it
//! satisfies `allOf`, the siblings of `$ref` and the selected branch of `anyOf` together. If two
//! keywords cannot be merged exactly, the later one takes precedence; the real validator checks the
//! result anyway.

use serde_json::{Map, Value, json};

use super::decimal::{least_common_multiple, smaller_than};
use super::equality::{contains_same, same};

/// Merges `extra` into `into`; returns `false` if no value can satisfy both.
pub(super) fn merge(into: &mut Map<String, Value>, extra: &Map<String, Value>) -> bool {
    extra.iter().all(|(keyword, right)| {
        let merged = match into.get(keyword) {
            None => Some(right.clone()),
            Some(left) => merge_keyword(keyword, left, right),
        };
        match merged {
            Some(value) => {
                into.insert(keyword.clone(), value);
                true
            }
            None => false,
        }
    })
}

fn merge_keyword(keyword: &str, left: &Value, right: &Value) -> Option<Value> {
    let merged = match keyword {
        "type" => return intersect_types(left, right),
        "enum" => return intersect_enums(left, right),
        "const" => return same(left, right).then(|| right.clone()),
        "required" => union(left, right),
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
            merge_members(left, right)
        }
        "dependentRequired" => merge_name_lists(left, right),
        "items" | "additionalProperties" | "propertyNames" => both(left, right),
        "prefixItems" => merge_positions(left, right),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
        | "minContains" => larger(left, right),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
        | "maxContains" => smaller(left, right),
        "multipleOf" => least_common_multiple(left, right).unwrap_or_else(|| right.clone()),
        "uniqueItems" => Value::Bool(left == &Value::Bool(true) || right == &Value::Bool(true)),
        _ => right.clone(),
    };
    Some(merged)
}

/// Returns the conjunction of two schemas, simplified for `true` and `false`.
fn both(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => other.clone(),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        _ if left == right => right.clone(),
        _ => json!({ "allOf": [left, right] }),
    }
}

fn merge_members(left: &Value, right: &Value) -> Value {
    let (Value::Object(left), Value::Object(right)) = (left, right) else {
        return right.clone();
    };
    let mut merged = left.clone();
    for (name, schema) in right {
        let joined = match left.get(name) {
            Some(Value::Array(names)) => union(&Value::Array(names.clone()), schema),
            Some(existing) => both(existing, schema),
            None => schema.clone(),
        };
        merged.insert(name.clone(), joined);
    }
    Value::Object(merged)
}

fn merge_name_lists(left: &Value, right: &Value) -> Value {
    let (Value::Object(left), Value::Object(right)) = (left, right) else {
        return right.clone();
    };
    let mut merged = left.clone();
    for (name, list) in right {
        let joined = left.get(name).map_or_else(|| list.clone(), |existing| union(existing, list));
        merged.insert(name.clone(), joined);
    }
    Value::Object(merged)
}

fn merge_positions(left: &Value, right: &Value) -> Value {
    let (Value::Array(left), Value::Array(right)) = (left, right) else {
        return right.clone();
    };
    let length = left.len().max(right.len());
    (0..length)
        .filter_map(|index| match (left.get(index), right.get(index)) {
            (Some(a), Some(b)) => Some(both(a, b)),
            (Some(only), None) | (None, Some(only)) => Some(only.clone()),
            (None, None) => None,
        })
        .collect()
}

fn union(left: &Value, right: &Value) -> Value {
    let (Value::Array(left), Value::Array(right)) = (left, right) else {
        return right.clone();
    };
    let mut merged = left.clone();
    merged.extend(right.iter().filter(|entry| !left.contains(entry)).cloned());
    Value::Array(merged)
}

fn intersect_enums(left: &Value, right: &Value) -> Option<Value> {
    let (Value::Array(left), Value::Array(right)) = (left, right) else {
        return Some(right.clone());
    };
    let shared: Vec<Value> =
        left.iter().filter(|entry| contains_same(right, entry)).cloned().collect();
    (!shared.is_empty()).then_some(Value::Array(shared))
}

fn intersect_types(left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (type_names(left), type_names(right));
    let has = |names: &[&str], name: &str| names.contains(&name);
    let shared: Vec<Value> = left
        .iter()
        .filter_map(|&name| match name {
            _ if has(&right, name) => Some(name),
            "number" if has(&right, "integer") => Some("integer"),
            "integer" if has(&right, "number") => Some("integer"),
            _ => None,
        })
        .map(Value::from)
        .collect();
    (!shared.is_empty()).then_some(Value::Array(shared))
}

/// Returns the type names of a `type` keyword, a string or an array.
pub(super) fn type_names(value: &Value) -> Vec<&str> {
    match value {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn larger(left: &Value, right: &Value) -> Value {
    let use_left = smaller_than(right, left).unwrap_or(false);
    if use_left { left.clone() } else { right.clone() }
}

fn smaller(left: &Value, right: &Value) -> Value {
    let use_left = smaller_than(left, right).unwrap_or(false);
    if use_left { left.clone() } else { right.clone() }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::{Value, json};

    fn merged(left: &Value, right: &Value) -> Option<Value> {
        let mut into = left.as_object().unwrap().clone();
        merge(&mut into, right.as_object().unwrap()).then_some(Value::Object(into))
    }

    #[test]
    fn bounds_are_tightened_from_both_sides() {
        assert_eq!(
            merged(&json!({"minimum": 5, "maximum": 9}), &json!({"minimum": 3, "maximum": 7.5})),
            Some(json!({"minimum": 5, "maximum": 7.5}))
        );
    }

    #[test]
    fn properties_and_required_are_united() {
        assert_eq!(
            merged(
                &json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}),
                &json!({"properties": {"a": {"minLength": 2}, "b": true}, "required": ["b", "a"]})
            ),
            Some(json!({
                "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 2}]}, "b": true},
                "required": ["a", "b"]
            }))
        );
    }

    #[test]
    fn number_and_integer_intersect_to_integer() {
        assert_eq!(
            merged(&json!({"type": ["number", "null"]}), &json!({"type": "integer"})),
            Some(json!({"type": ["integer"]}))
        );
    }

    #[test]
    fn contradictions_are_reported() {
        for (left, right) in [
            (json!({"type": "string"}), json!({"type": "object"})),
            (json!({"enum": [1, 2]}), json!({"enum": [3]})),
            (json!({"const": 1}), json!({"const": 2})),
        ] {
            assert_eq!(merged(&left, &right), None, "{left} {right}");
        }
    }

    #[test]
    fn enums_are_intersected() {
        assert_eq!(
            merged(&json!({"enum": ["a", "b", "c"]}), &json!({"enum": ["c", "b"]})),
            Some(json!({"enum": ["b", "c"]}))
        );
    }

    #[test]
    fn multiples_become_their_common_multiple() {
        assert_eq!(
            merged(&json!({"multipleOf": 4}), &json!({"multipleOf": 6})),
            Some(json!({"multipleOf": 12}))
        );
    }
}
