//! Proptest strategies for calls: valid and invalid schemas, arguments and configurations.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stickler::{HelpDetail, Limits, Repair, UnknownFields, ValidationConfig};

/// Field names: some are similar to each other, some need escapes in a JSON Pointer.
fn name() -> impl Strategy<Value = String> {
    let names = vec![
        "path",
        "pth",
        "Path",
        "query",
        "limit",
        "max_results",
        "maxResults",
        "a/b",
        "m~n",
        "",
        "arguments",
        "task_progress",
        "`tick`",
        "naïve field",
        "0",
    ];
    let common = vec!["path", "pth", "query", "limit"];
    prop_oneof![prop::sample::select(common), prop::sample::select(names)].prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let texts = vec![
        "",
        "x",
        "fast",
        "Fast",
        "a secret value",
        "another secret, longer than a message would ever show of it, to see that it is cut",
        "12",
        "1.50",
        "true",
        "null",
        "[1, 2]",
        "{\"path\": \"hidden text\"}",
        "{\"path\": 1, \"path\": \"twice\"}",
        "[1e999]",
        "{\"limit\": {\"limit\": \"[[]]\"}}",
        "2020-01-01",
    ];
    prop_oneof![4 => prop::sample::select(texts).prop_map(str::to_owned), 1 => any::<String>()]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..20_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

/// Any value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner, 4),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>, max_members: usize) -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value), 0..max_members)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// A schema as servers publish it: mostly an object with properties.
fn realistic_schema() -> impl Strategy<Value = Value> {
    let kind =
        prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "null"]);
    let leaf = prop_oneof![
        3 => kind.prop_map(|kind| json!({ "type": kind })),
        1 => Just(json!({ "type": "object" })),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(|some| json!({ "enum": some })),
        1 => Just(json!({ "type": "string", "enum": ["fast", "slow", "verbose"] })),
        1 => scalar().prop_map(|value| json!({ "const": value })),
        1 => scalar().prop_map(|value| json!({ "default": value, "description": "Has a default" })),
        1 => Just(json!({ "type": ["string", "null"], "maxLength": 3, "pattern": "^[a-z]+$" })),
        1 => Just(json!({ "$ref": "#/$defs/x" })),
        1 => Just(json!({ "type": "string", "format": "date", "description": "A day\nin `time`" })),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..3);
        let fields = prop::collection::vec((name(), inner.clone(), any::<bool>()), 0..6);
        prop_oneof![
            4 => (fields, prop::option::of(any::<bool>())).prop_map(|(fields, additional)| {
                let required: Vec<_> =
                    fields.iter().filter(|field| field.2).map(|field| field.0.clone()).collect();
                let properties: Map<_, _> =
                    fields.into_iter().map(|(name, schema, _)| (name, schema)).collect();
                let mut schema = json!({ "type": "object", "properties": properties });
                if !required.is_empty() { schema["required"] = json!(required) }
                if let Some(additional) = additional {
                    schema["additionalProperties"] = json!(additional);
                }
                schema
            }),
            1 => inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            1 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf"]), several)
                .prop_map(|(keyword, schemas)| Value::Object(Map::from_iter([
                    (keyword.to_owned(), schemas.into())
                ]))),
            1 => inner.clone().prop_map(|names| json!({ "propertyNames": names })),
            1 => inner.prop_map(|not| json!({ "not": not })),
        ]
    })
}

/// Realistic schemas, and invalid ones with arbitrary values under keyword names.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "$ref",
        "$id",
        "$schema",
        "anyOf",
        "enum",
        "items",
        "additionalProperties",
        "patternProperties",
        "dependentSchemas",
        "$defs",
        "pattern",
        "if",
        "$dynamicRef",
        "$anchor",
        "unevaluatedProperties",
        "prefixItems",
        "default",
        "multipleOf",
    ]);
    let any_value = prop_oneof![
        value(),
        prop::sample::select(vec![
            json!("#"),
            json!("#/properties"),
            json!("http://else.where/x"),
            json!("http://json-schema.org/draft-07/schema#"),
            json!("(?=x)(a+)+$"),
            json!("[")
        ]),
    ];
    let invalid_schema = prop::collection::vec((keyword, any_value), 0..5).prop_map(|keywords| {
        Value::Object(keywords.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    });
    prop_oneof![
        6 => (realistic_schema(), realistic_schema()).prop_map(|(mut root, other)| {
            root["$defs"] = json!({ "x": other });
            root
        }),
        1 => invalid_schema,
        1 => value(),
    ]
}

/// The JSON text of arguments: usually an object, sometimes with a duplicate key.
pub(crate) fn arguments() -> impl Strategy<Value = Vec<u8>> {
    let twice = (name(), value(), value()).prop_map(|(name, a, b)| {
        let name = Value::from(name);
        format!("{{{name}: {a}, \"limit\": 1e999, {name}: {b}}}")
    });
    prop_oneof![
        8 => object(value(), 6).prop_map(|value| value.to_string().into_bytes()),
        2 => object(value(), 3).prop_map(|value| json!({ "arguments": value }).to_string().into_bytes()),
        1 => object(value(), 3).prop_map(|value| json!(value.to_string()).to_string().into_bytes()),
        1 => value().prop_map(|value| value.to_string().into_bytes()),
        1 => twice.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

/// Every combination of configuration options.
pub(crate) fn config() -> impl Strategy<Value = ValidationConfig> {
    let repair =
        prop::sample::select(vec![Repair::Off, Repair::Suggest, Repair::Apply, Repair::Apply]);
    let unknown = prop::sample::select(vec![UnknownFields::Reject, UnknownFields::FollowSchema]);
    let help = prop::sample::select(vec![HelpDetail::Brief, HelpDetail::Brief, HelpDetail::Full]);
    let budget = prop::sample::select(vec![0_usize, 60, 80, 150, 500, 5000]);
    let flags = (prop::bool::weighted(0.95), any::<bool>(), any::<bool>(), any::<bool>());
    (flags, 0..6_usize, unknown, repair, help, budget, limits()).prop_map(
        |((checks, enhances, masks, injected), distance, unknown, repair, help, budget, limits)| {
            let mut config = ValidationConfig::default();
            config.pre_validate = checks;
            config.enhance_errors = enhances;
            config.mask_values = masks;
            config.suggestion_distance = distance;
            config.unknown_fields = unknown;
            config.repair = repair;
            config.help = help;
            config.help_token_budget = budget;
            if injected {
                config.injected_keys = vec!["task_progress".to_owned(), "pth".to_owned()];
                config.documentation_url = Some("https://docs.test/{server}/{tool}".to_owned());
            }
            config.limits = limits;
            config
        },
    )
}

/// The default limits; sometimes one of them is very low.
fn limits() -> impl Strategy<Value = Limits> {
    (0..20_u8, prop::sample::select(vec![0_u8, 1, 3, 30])).prop_map(|(which, low)| {
        let mut limits = Limits::default();
        match which {
            0 => limits.message_depth = low.into(),
            1 => limits.tools_per_server = low.into(),
            2 => limits.schema_bytes = low.into(),
            3 => limits.schema_depth = low.into(),
            4 => limits.schema_nodes = low.into(),
            5 => limits.pattern_bytes = low.into(),
            6 => limits.pattern_backtracks = low.into(),
            7 => limits.verdict_steps = low.into(),
            8 => limits.explain_steps = low.into(),
            9 => limits.errors = low.into(),
            _ => {}
        }
        limits
    })
}
