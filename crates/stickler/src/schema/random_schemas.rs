//! Proptest strategies for small schemas and instances that share a few names and values.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Selects from few names, so that schemas often apply to the generated instances.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "a/b", "m~n", "", "ü"]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![0.0, -0.0, 1.0, 1.5, -2.5, 1e19, 9_007_199_254_740_993.0])
            .prop_map(Value::from),
        prop::sample::select(vec![i64::MIN, i64::MAX]).prop_map(Value::from),
        Just(Value::from(u64::MAX)),
        prop::sample::select(vec!["", "a", "ab", "a1", "ü\n\"", "1", "null", "2020-01-01"])
            .prop_map(Value::from),
    ]
}

/// Generates small values of every type.
pub(super) fn instance() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner, 4),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>, max_len: usize) -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value), 0..max_len)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn types() -> impl Strategy<Value = Value> {
    let one = prop::sample::select(vec![
        "null", "boolean", "integer", "number", "string", "array", "object",
    ]);
    prop_oneof![
        one.clone().prop_map(Value::from),
        prop::collection::btree_set(one, 1..4)
            .prop_map(|several| Value::from(several.into_iter().collect::<Vec<_>>())),
    ]
}

/// Generates a keyword with its value; `inner` generates subschemas.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let schemas = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    let small = (0..3_u8).prop_map(Value::from);
    let number = prop_oneof![
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![-1.5, 0.0, 0.5, 1e19]).prop_map(Value::from),
    ];
    let named = |names: &'static [&'static str], value: BoxedStrategy<Value>| {
        (prop::sample::select(names), value).prop_map(|(name, value)| (name.to_owned(), value))
    };
    let set = prop::collection::btree_set(name(), 0..3)
        .prop_map(|names| Value::from(names.into_iter().collect::<Vec<_>>()));
    let pattern = prop::sample::select(vec!["^a", "b$", "[0-9]", "^.{2}$", "(?=a)a", "\\n"])
        .prop_map(Value::from);
    prop_oneof![
        named(&["type"], types().boxed()),
        named(&["const"], instance().boxed()),
        named(&["enum"], prop::collection::vec(instance(), 1..4).prop_map(Value::from).boxed()),
        named(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], number.boxed()),
        named(&["multipleOf"], prop::sample::select(vec![json!(2), json!(0.5)]).boxed()),
        named(&["minLength", "maxLength", "minItems", "maxItems"], small.clone().boxed()),
        named(&["minProperties", "maxProperties"], small.boxed()),
        named(&["pattern"], pattern.boxed()),
        named(&["format"], prop::sample::select(vec![json!("date"), json!("unknown")]).boxed()),
        named(&["uniqueItems"], any::<bool>().prop_map(Value::from).boxed()),
        named(&["required"], set.boxed()),
        named(&["properties"], object(inner.clone(), 4).boxed()),
        named(&["anyOf", "oneOf", "allOf", "prefixItems"], schemas.boxed()),
        named(&["not", "items", "additionalProperties", "contains"], inner.clone()),
        named(&["propertyNames", "if", "then", "else", "unevaluatedProperties"], inner),
        named(
            &["$ref"],
            prop::sample::select(vec![json!("#/$defs/x"), json!("#/$defs/y"), json!("#")]).boxed()
        ),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        types().prop_map(|types| json!({ "type": types })),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 0..4)
            .prop_map(|keywords| Value::Object(keywords.into_iter().collect::<Map<_, _>>()))
    })
}

/// Generates a schema with two definitions as targets of `$ref`.
pub(super) fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, x, y)| {
        let mut root = match root {
            Value::Object(root) => root,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        root.insert("$defs".to_owned(), json!({ "x": x, "y": y }));
        Value::Object(root)
    })
}
