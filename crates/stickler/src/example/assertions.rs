//! The assertions that need no subschema: types, lists, bounds, lengths, counts.
//!
//! Keywords that do not apply to a value's type hold, as in the specification;
//! so do malformed ones, which are not this module's to report.

use serde_json::{Map, Value};

use super::decimal::{Decimal, smaller_than};
use super::equality::{contains_same, same};
use super::merge::type_names;
use super::string::count;

/// Whether none of the simple assertions in `keywords` is known to fail for `value`.
pub(super) fn hold(keywords: &Map<String, Value>, value: &Value) -> bool {
    is_of_type(keywords, value)
        && is_listed(keywords, value)
        && match value {
            Value::Number(_) => number_holds(keywords, value),
            Value::String(text) => within(keywords, "minLength", "maxLength", text.chars().count()),
            Value::Array(items) => {
                within(keywords, "minItems", "maxItems", items.len())
                    && (keywords.get("uniqueItems") != Some(&Value::Bool(true))
                        || all_distinct(items))
            }
            Value::Object(members) => object_holds(keywords, members),
            Value::Null | Value::Bool(_) => true,
        }
}

fn is_of_type(keywords: &Map<String, Value>, value: &Value) -> bool {
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

/// Whether `value` is allowed by `enum` and `const`.
fn is_listed(keywords: &Map<String, Value>, value: &Value) -> bool {
    let in_enum = keywords
        .get("enum")
        .and_then(Value::as_array)
        .is_none_or(|entries| contains_same(entries, value));
    in_enum && keywords.get("const").is_none_or(|constant| same(constant, value))
}

fn number_holds(keywords: &Map<String, Value>, value: &Value) -> bool {
    let below = |keyword: &str| {
        keywords.get(keyword).is_some_and(|bound| smaller_than(value, bound) == Some(true))
    };
    let above = |keyword: &str| {
        keywords.get(keyword).is_some_and(|bound| smaller_than(bound, value) == Some(true))
    };
    // In draft-04 the exclusive keywords are flags on the inclusive ones.
    let flagged = |keyword: &str| keywords.get(keyword) == Some(&Value::Bool(true));
    let not_above =
        |keyword: &str| keywords.get(keyword).is_some_and(Value::is_number) && !above(keyword);
    let not_below =
        |keyword: &str| keywords.get(keyword).is_some_and(Value::is_number) && !below(keyword);
    let too_low = below("minimum")
        || not_above("exclusiveMinimum")
        || flagged("exclusiveMinimum") && not_above("minimum");
    let too_high = above("maximum")
        || not_below("exclusiveMaximum")
        || flagged("exclusiveMaximum") && not_below("maximum");
    !too_low && !too_high && is_multiple(keywords, value)
}

fn is_multiple(keywords: &Map<String, Value>, value: &Value) -> bool {
    let step = keywords.get("multipleOf").and_then(Decimal::of);
    step.zip(Decimal::of(value))
        .and_then(|(step, value)| value.is_multiple_of(step))
        .unwrap_or(true)
}

fn object_holds(keywords: &Map<String, Value>, members: &Map<String, Value>) -> bool {
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

fn within(keywords: &Map<String, Value>, least: &str, most: &str, actual: usize) -> bool {
    count(keywords, least).is_none_or(|least| least <= actual)
        && count(keywords, most).is_none_or(|most| actual <= most)
}

fn all_distinct(items: &[Value]) -> bool {
    items
        .iter()
        .enumerate()
        .all(|(index, item)| items.get(..index).is_none_or(|earlier| !contains_same(earlier, item)))
}

#[cfg(test)]
mod tests {
    use super::hold;
    use serde_json::json;

    #[test]
    fn each_assertion_tells_good_from_bad() {
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
            assert!(hold(keywords, &good), "{schema} {good}");
            assert!(!hold(keywords, &bad), "{schema} {bad}");
        }
    }

    #[test]
    fn keywords_of_other_types_hold() {
        let schema = json!({"minimum": 5, "minLength": 5, "required": ["a"], "minItems": 5});
        assert!(hold(schema.as_object().unwrap(), &json!(true)));
    }
}
