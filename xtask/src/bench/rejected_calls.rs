//! The measured rejected calls: each is large in one respect.
//!
//! Contract: the cases are deterministic, and each schema rejects its calls.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// Cases that differ only in size, in ascending order.
pub(super) struct Family {
    pub(super) name: String,
    pub(super) schema: Value,
    pub(super) calls: Vec<Call>,
}

pub(super) struct Call {
    /// The number of keys, elements, bytes of a key, or levels.
    pub(super) size: usize,
    pub(super) text: String,
}

pub(super) fn families() -> Vec<Family> {
    let mut all: Vec<Family> = [1, 10, 50, 200].into_iter().map(unknown_keys).collect();
    all.extend([
        family("array, one unknown field each", rows(), &[2_000, 20_000, 200_000], |n| {
            array(n, |index| format!(r#"{{"count":{index},"zzz":1}}"#))
        }),
        family("array, one near-miss name each", rows(), &[2_000, 20_000, 200_000], |n| {
            array(n, |index| format!(r#"{{"cuont":{index}}}"#))
        }),
        family("array, stringified numbers", rows(), &[1_000, 10_000, 100_000], |n| {
            array(n, |index| format!(r#"{{"count":"{index}"}}"#))
        }),
        family("unevaluatedProperties: false", unevaluated(), &[1_000, 10_000, 100_000], keys),
        family("arguments as one JSON string", fields(50), &[1_000, 10_000, 100_000], |n| {
            Value::String(keys(n)).to_string()
        }),
        family("one long key", fields(50), &[1_000, 100_000, 1_000_000], |n| {
            format!(r#"{{"{}":1}}"#, "k".repeat(n))
        }),
        family("a long key above 1,000 wrong elements", long_key(), &[100, 10_000, 100_000], |n| {
            let rows = vec![r#"{"count":"x"}"#; 1_000].join(",");
            format!(r#"{{"{}":[{rows}]}}"#, "k".repeat(n))
        }),
        family("near-miss keys, 400 candidates", fields(400), &[100, 400, 1_600], |n| {
            object(n, |index| format!("a_rather_long_field_nane_{index}"))
        }),
        family("enum of 10,000", enumeration(), &[10, 1_000, 100_000], |n| {
            format!(r#"{{"mode":"a_rather_long_value_{}"}}"#, "9".repeat(n))
        }),
        family("nesting", tree(), &[20, 60, 120], |n| {
            format!(r#"{}{{"zzz":1}}{}"#, r#"{"next":"#.repeat(n), "}".repeat(n))
        }),
        family("anyOf of 200 branches", branches(), &[100, 1_000, 10_000], |n| {
            format!(r#"{{"item":{}}}"#, keys(n))
        }),
        family("one key repeated", fields(10), &[1_000, 10_000, 100_000], |n| {
            object(n, |_| "a_rather_long_field_name_1".to_owned())
        }),
        family("nested repeated keys", fields(10), &[1_000, 10_000, 100_000], |n| {
            let (last, member) = (r#""key":1"#, r#""key":{"x":1,"x":1}"#);
            format!("{{{},{last}}}", vec![member; n].join(","))
        }),
    ]);
    all
}

fn unknown_keys(properties: usize) -> Family {
    let name = format!("unknown keys, {properties} properties");
    family(&name, fields(properties), &[1_000, 3_000, 10_000, 100_000], keys)
}

fn family(name: &str, schema: Value, sizes: &[usize], call: impl Fn(usize) -> String) -> Family {
    let calls = sizes.iter().map(|&size| Call { size, text: call(size) }).collect();
    Family { name: name.to_owned(), schema, calls }
}

fn fields(count: usize) -> Value {
    let properties: Map<String, Value> = (0..count)
        .map(|index| (format!("a_rather_long_field_name_{index}"), json!({ "type": "integer" })))
        .collect();
    json!({ "type": "object", "properties": properties })
}

fn unevaluated() -> Value {
    let mut schema = fields(50);
    schema["unevaluatedProperties"] = json!(false);
    schema
}

fn rows() -> Value {
    json!({ "type": "object", "properties": { "rows": { "type": "array", "items": row() } } })
}

fn row() -> Value {
    json!({ "type": "object", "properties": { "count": { "type": "integer" } } })
}

fn long_key() -> Value {
    let rows = json!({ "type": "array", "items": row() });
    json!({ "type": "object", "additionalProperties": rows })
}

fn enumeration() -> Value {
    let values: Vec<String> =
        (0..10_000).map(|index| format!("a_rather_long_value_{index}")).collect();
    json!({ "type": "object", "properties": { "mode": { "enum": values } } })
}

fn tree() -> Value {
    json!({ "type": "object", "properties": { "next": { "$ref": "#" } } })
}

fn branches() -> Value {
    let branch = |index: usize| {
        let (only, count) = (format!("only_{index}"), format!("count_{index}"));
        json!({
            "type": "object",
            "properties": { only.as_str(): { "type": "string" }, count: { "type": "integer" } },
            "required": [only],
        })
    };
    let all: Vec<Value> = (0..200).map(branch).collect();
    json!({ "type": "object", "properties": { "item": { "anyOf": all } } })
}

fn keys(count: usize) -> String {
    object(count, |index| format!("key{index}"))
}

fn object(count: usize, name: impl Fn(usize) -> String) -> String {
    let mut text = String::from("{");
    for index in 0..count {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, r#"{comma}"{}":1"#, name(index));
    }
    text.push('}');
    text
}

fn array(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..count).map(element).collect();
    format!(r#"{{"rows":[{}]}}"#, elements.join(","))
}
