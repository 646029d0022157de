//! Describes in a few words what a schema requires.

use std::collections::{HashMap, HashSet};

use jsonschema::error::ValidationErrorKind as Engine;
use serde_json::Value;

use super::phrases::literal;
use crate::schema::{CompiledSchema, Members, NodeId};

/// Maximum number of types that a description lists.
const MAX_TYPES: usize = 64;

/// Maximum number of subschemas of one property.
const MAX_ALTERNATIVES: usize = 32;

/// Returns the property names that the subschemas list for one location, including the subschemas that
/// they refer to and excluding names that are forbidden by a `false` schema.
pub(crate) fn names<'s>(schema: &'s CompiledSchema, nodes: &[NodeId]) -> Vec<&'s str> {
    members(schema, nodes).into_iter().map(|(name, _)| name).collect()
}

/// Like [`names`], with the first subschema of each property.
pub(crate) fn members<'s>(schema: &'s CompiledSchema, nodes: &[NodeId]) -> Vec<(&'s str, NodeId)> {
    let members = alternatives(schema, nodes).into_iter();
    members.filter_map(|(name, nodes)| Some((name, *nodes.first()?))).collect()
}

/// Like [`names`], with the subschemas of each property, one for every branch that has it; at most
/// [`MAX_ALTERNATIVES`].
pub(crate) fn alternatives<'s>(
    schema: &'s CompiledSchema,
    nodes: &[NodeId],
) -> Vec<(&'s str, Vec<NodeId>)> {
    let mut pending: Vec<NodeId> = nodes.iter().rev().copied().collect();
    let (mut seen, mut listed, mut forbidden) = (HashSet::new(), HashMap::new(), HashSet::new());
    let mut members: Vec<(&str, Vec<NodeId>)> = Vec::new();
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = schema.graph.node(id);
        for (name, member) in node.properties.iter().flat_map(Members::iter) {
            if schema.at(&schema.graph.node(member).pointer) == Some(&Value::Bool(false)) {
                forbidden.insert(name);
                continue;
            }
            let index = *listed.entry(name).or_insert(members.len());
            match members.get_mut(index) {
                Some((_, nodes)) if nodes.len() < MAX_ALTERNATIVES => nodes.push(member),
                Some(_) => {}
                None => members.push((name, vec![member])),
            }
        }
        let next: Vec<NodeId> = node.in_place().collect();
        pending.extend(next.into_iter().rev());
    }
    members.retain(|(name, _)| !forbidden.contains(name));
    members
}

/// Returns the names that a subschema requires of every object, directly or through `allOf` and `$ref`.
pub(crate) fn required_fields(schema: &CompiledSchema, id: NodeId) -> Vec<String> {
    let mut required: Vec<String> = Vec::new();
    let (mut pending, mut seen) = (vec![id], HashSet::new());
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = schema.graph.node(id);
        let listed = schema.at(&node.pointer).and_then(|keywords| keywords.get("required"));
        let names = listed.and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            if !required.iter().any(|known| known == name) {
                required.push(name.to_owned());
            }
        }
        pending.extend(node.all_of.iter().rev());
    }
    required
}

/// Returns the type or values that a subschema accepts: `string`, `integer or null`, `"asc"`.
pub(crate) fn type_of(schema: &CompiledSchema, id: NodeId) -> String {
    let mut types = Types::default();
    types.collect(schema, id);
    if types.names.is_empty() { "a value".to_owned() } else { types.names.join(" or ") }
}

/// Distinct types in the order in which they were found.
#[derive(Default)]
struct Types {
    names: Vec<String>,
    known: HashSet<String>,
    seen: HashSet<NodeId>,
}

impl Types {
    fn collect(&mut self, schema: &CompiledSchema, id: NodeId) {
        if !self.seen.insert(id) || self.names.len() >= MAX_TYPES {
            return;
        }
        let node = schema.graph.node(id);
        let Some(keywords) = schema.at(&node.pointer) else {
            return;
        };
        match (keywords.get("type"), keywords.get("const"), keywords.get("enum")) {
            (Some(Value::String(one)), ..) => self.add(one),
            (Some(Value::Array(several)), ..) => {
                several.iter().filter_map(Value::as_str).for_each(|one| self.add(one));
            }
            (_, Some(constant), _) => self.add(&literal(constant)),
            (_, None, Some(Value::Array(values))) => {
                for value in values {
                    self.add(value_type(value));
                }
            }
            _ => {}
        }
        if self.names.is_empty() {
            let choices = node.choices.iter().flat_map(|choice| choice.branches.iter());
            for next in node.all_of.iter().chain(choices) {
                self.collect(schema, *next);
            }
        }
    }

    fn add(&mut self, name: &str) {
        if self.names.len() < MAX_TYPES && !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.names.push(name.to_owned());
        }
    }
}

fn value_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns what a failed keyword requires, phrased to follow the word "must".
pub(super) fn constraint(kind: &Engine) -> String {
    match kind {
        Engine::AdditionalItems { limit } => format!("have at most {limit} items"),
        Engine::MaxItems { limit } => format!("have at most {}", counted(*limit, "item")),
        Engine::MinItems { limit } => format!("have at least {}", counted(*limit, "item")),
        Engine::UnevaluatedItems { .. } => "have no additional items".to_owned(),
        Engine::UniqueItems => "have no duplicate items".to_owned(),
        Engine::Contains => "contain an item that matches the `contains` schema".to_owned(),
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
            "be a string that can be matched against the schema's pattern in reasonable time"
                .to_owned()
        }
        Engine::ContentEncoding { content_encoding } => {
            format!("be encoded as `{content_encoding}`")
        }
        Engine::ContentMediaType { content_media_type } => {
            format!("be content of type `{content_media_type}`")
        }
        Engine::FromUtf8 { .. } => "decode to UTF-8 text".to_owned(),
        Engine::OneOfMultipleValid { .. } => {
            "match exactly one of the schema's alternatives, not several".to_owned()
        }
        Engine::Not { schema } => format!("not match {}", literal(schema)),
        _ => "satisfy the schema".to_owned(),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
