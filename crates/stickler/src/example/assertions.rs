//! Evaluates the assertions without subschemas: types, `enum`, bounds, lengths and counts.
//!
//! Keywords that do not apply to the type of a value are satisfied, as in the specification.
//! Malformed keywords are also treated as satisfied; other modules report them.

use serde_json::{Map, Value};

use super::decimal::{Decimal, smaller_than};
use super::equality::{contains_same, same};
use super::merge::type_names;
use super::string::count;

/// Whether `value` satisfies the simple assertions in `keywords`, as far as they can be evaluated.
pub(super) fn are_satisfied(keywords: &Map<String, Value>, value: &Value) -> bool {
    has_allowed_type(keywords, value)
        && is_enumerated(keywords, value)
        && match value {
            Value::Number(_) => number_is_valid(keywords, value),
            Value::String(text) => within(keywords, "minLength", "maxLength", text.chars().count()),
            Value::Array(items) => {
                within(keywords, "minItems", "maxItems", items.len())
                    && (keywords.get("uniqueItems") != Some(&Value::Bool(true))
                        || all_distinct(items))
            }
            Value::Object(members) => object_is_valid(keywords, members),
            Value::Null | Value::Bool(_) => true,
        }
}

fn has_allowed_type(keywords: &Map<String, Value>, value: &Value) -> bool {
    let Some(names) = keywords.get("type").map(type_names) else {
        return true;
    };
    names.is_empty() || names.into_iter().any(|name| has_type(value, name))
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || Decimal::of(value).is_some_and(Decimal::is_integer)
        }
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    }
}

/// Whether `enum` and `const` allow `value`.
fn is_enumerated(keywords: &Map<String, Value>, value: &Value) -> bool {
    let in_enum = keywords
        .get("enum")
        .and_then(Value::as_array)
        .is_none_or(|entries| contains_same(entries, value));
    in_enum && keywords.get("const").is_none_or(|constant| same(constant, value))
}

fn number_is_valid(keywords: &Map<String, Value>, value: &Value) -> bool {
    let below = |keyword: &str| {
        keywords.get(keyword).is_some_and(|bound| smaller_than(value, bound) == Some(true))
    };
    let above = |keyword: &str| {
        keywords.get(keyword).is_some_and(|bound| smaller_than(bound, value) == Some(true))
    };
    // In draft-04 the exclusive keywords are flags on the inclusive ones.
    let is_flag_set = |keyword: &str| keywords.get(keyword) == Some(&Value::Bool(true));
    let not_above =
        |keyword: &str| keywords.get(keyword).is_some_and(Value::is_number) && !above(keyword);
    let not_below =
        |keyword: &str| keywords.get(keyword).is_some_and(Value::is_number) && !below(keyword);
    let too_low = below("minimum")
        || not_above("exclusiveMinimum")
        || is_flag_set("exclusiveMinimum") && not_above("minimum");
    let too_high = above("maximum")
        || not_below("exclusiveMaximum")
        || is_flag_set("exclusiveMaximum") && not_below("maximum");
    !too_low && !too_high && is_multiple(keywords, value)
}

fn is_multiple(keywords: &Map<String, Value>, value: &Value) -> bool {
    let step = keywords.get("multipleOf").and_then(Decimal::of);
    step.zip(Decimal::of(value))
        .and_then(|(step, value)| value.is_multiple_of(step))
        .unwrap_or(true)
}

fn object_is_valid(keywords: &Map<String, Value>, members: &Map<String, Value>) -> bool {
    let has_all = |names: &Value| {
        names.as_array().is_none_or(|names| {
            names.iter().filter_map(Value::as_str).all(|name| members.contains_key(name))
        })
    };
    let required = keywords.get("required").is_none_or(has_all);
    let dependent = ["dependentRequired", "dependencies"]
        .into_iter()
        .filter_map(|keyword| keywords.get(keyword).and_then(Value::as_object))
        .flatten()
        .all(|(name, names)| !members.contains_key(name) || has_all(names));
    required && dependent && within(keywords, "minProperties", "maxProperties", members.len())
}

fn within(keywords: &Map<String, Value>, min: &str, max: &str, actual: usize) -> bool {
    count(keywords, min).is_none_or(|min| min <= actual)
        && count(keywords, max).is_none_or(|max| actual <= max)
}

fn all_distinct(items: &[Value]) -> bool {
    items
        .iter()
        .enumerate()
        .all(|(index, item)| items.get(..index).is_none_or(|earlier| !contains_same(earlier, item)))
}

#[cfg(test)]
mod tests {
    use super::are_satisfied;
    use serde_json::json;

    #[test]
    fn each_assertion_accepts_valid_and_rejects_invalid_values() {
        for (schema, good, bad) in [
            (json!({"type": ["string", "null"]}), json!(null), json!(1)),
            (json!({"type": "integer"}), json!(1.0), json!(1.5)),
            (json!({"enum": [1, "a"]}), json!("a"), json!("b")),
            (json!({"const": {"a": 1}}), json!({"a": 1.0}), json!({})),
            (json!({"minimum": 2}), json!(2), json!(1)),
            (json!({"exclusiveMinimum": 2}), json!(3), json!(2)),
            (json!({"minimum": 2, "exclusiveMinimum": true}), json!(3), json!(2)),
            (json!({"maximum": 2, "exclusiveMaximum": true}), json!(1), json!(2)),
            (json!({"multipleOf": 0.1}), json!(0.3), json!(0.35)),
            (json!({"minLength": 2}), json!("éé"), json!("é")),
            (json!({"maxItems": 1}), json!([1]), json!([1, 2])),
            (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1.0])),
            (json!({"required": ["a"]}), json!({"a": 1}), json!({})),
            (json!({"minProperties": 1}), json!({"a": 1}), json!({})),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({"b": 1}), json!({"a": 1})),
            (json!({"dependencies": {"a": ["b"]}}), json!({"b": 1}), json!({"a": 1})),
        ] {
            let keywords = schema.as_object().unwrap();
            assert!(are_satisfied(keywords, &good), "{schema} {good}");
            assert!(!are_satisfied(keywords, &bad), "{schema} {bad}");
        }
    }

    #[test]
    fn keywords_of_other_types_are_satisfied() {
        let schema = json!({"minimum": 5, "minLength": 5, "required": ["a"], "minItems": 5});
        assert!(are_satisfied(schema.as_object().unwrap(), &json!(true)));
    }
}
