//! What a schema asks for, in a few words.

use jsonschema::error::ValidationErrorKind as Engine;
use serde_json::Value;

use super::wording::literal;
use crate::schema::{CompiledSchema, Members, NodeId};

/// The names that subschemas list for one place, those they refer to included; without those that
/// are listed only to be ruled out.
pub(crate) fn names<'s>(schema: &'s CompiledSchema, nodes: &[NodeId]) -> Vec<&'s str> {
    let mut pending: Vec<NodeId> = nodes.iter().rev().copied().collect();
    let mut seen = Vec::new();
    let mut names = Vec::new();
    let mut forbidden = Vec::new();
    while let Some(id) = pending.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let node = schema.graph.node(id);
        for (name, member) in node.properties.iter().flat_map(Members::iter) {
            if schema.at(&schema.graph.node(member).pointer) == Some(&Value::Bool(false)) {
                forbidden.push(name);
            } else if !names.contains(&name) {
                names.push(name);
            }
        }
        pending.extend(node.in_place());
    }
    names.retain(|name| !forbidden.contains(name));
    names
}

/// The type or values that a subschema asks for: `string`, `integer or null`, `one of "a", "b"`.
pub(crate) fn type_of(schema: &CompiledSchema, id: NodeId) -> String {
    let mut types = Vec::new();
    collect_types(schema, id, &mut types, &mut Vec::new());
    if types.is_empty() { "a value".to_owned() } else { types.join(" or ") }
}

fn collect_types(
    schema: &CompiledSchema,
    id: NodeId,
    types: &mut Vec<String>,
    seen: &mut Vec<NodeId>,
) {
    if seen.contains(&id) {
        return;
    }
    seen.push(id);
    let node = schema.graph.node(id);
    let Some(keywords) = schema.at(&node.pointer) else {
        return;
    };
    let found: Vec<String> = match keywords.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => match (keywords.get("const"), keywords.get("enum")) {
            (Some(constant), _) => vec![literal(constant)],
            (None, Some(Value::Array(values))) => values.iter().map(value_type).collect(),
            _ => Vec::new(),
        },
    };
    for one in found {
        if !types.contains(&one) {
            types.push(one);
        }
    }
    if types.is_empty() {
        let choices = node.choices.iter().flat_map(|choice| choice.branches.iter());
        for next in node.all_of.iter().chain(choices) {
            collect_types(schema, *next, types, seen);
        }
    }
}

fn value_type(value: &Value) -> String {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
    .to_owned()
}

/// What a failed keyword wants, to follow the word "must".
pub(super) fn constraint(kind: &Engine) -> String {
    match kind {
        Engine::AdditionalItems { limit } => format!("have at most {limit} items"),
        Engine::MaxItems { limit } => format!("have at most {}", counted(*limit, "item")),
        Engine::MinItems { limit } => format!("have at least {}", counted(*limit, "item")),
        Engine::UnevaluatedItems { .. } => "have no further items".to_owned(),
        Engine::UniqueItems => "have no two equal items".to_owned(),
        Engine::Contains => "contain an item of the form that the schema asks for".to_owned(),
        Engine::MaxLength { limit } => {
            format!("have at most {}", counted(*limit, "character"))
        }
        Engine::MinLength { limit } => {
            format!("have at least {}", counted(*limit, "character"))
        }
        Engine::MaxProperties { limit } => format!("have at most {}", counted(*limit, "field")),
        Engine::MinProperties { limit } => format!("have at least {}", counted(*limit, "field")),
        Engine::Maximum { limit } => format!("be at most {limit}"),
        Engine::Minimum { limit } => format!("be at least {limit}"),
        Engine::ExclusiveMaximum { limit } => format!("be less than {limit}"),
        Engine::ExclusiveMinimum { limit } => format!("be greater than {limit}"),
        Engine::MultipleOf { multiple_of } => format!("be a multiple of {multiple_of}"),
        Engine::Format { format } => format!("have the format `{format}`"),
        Engine::Pattern { pattern } => format!("match the pattern `{pattern}`"),
        Engine::BacktrackLimitExceeded { .. } | Engine::RegexEngineFailure { .. } => {
            "be a string that the schema's pattern can be tried on in reasonable time".to_owned()
        }
        Engine::ContentEncoding { content_encoding } => {
            format!("be encoded as `{content_encoding}`")
        }
        Engine::ContentMediaType { content_media_type } => {
            format!("be content of type `{content_media_type}`")
        }
        Engine::FromUtf8 { .. } => "decode to UTF-8 text".to_owned(),
        Engine::OneOfMultipleValid { .. } => {
            "match only one of the forms in the schema, not several at once".to_owned()
        }
        Engine::Not { schema } => format!("not match {}", literal(schema)),
        _ => "satisfy the schema".to_owned(),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
