//! Size limits of schemas, checked before anything expensive is done.

use serde_json::Value;

use super::{NodeId, SchemaGraph, SchemaRejection};
use crate::config::Limits;

/// Checks size and nesting.
pub(super) fn measure(schema: &Value, limits: &Limits) -> Result<(), SchemaRejection> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err(SchemaRejection::new("it is neither an object nor a boolean"));
    }
    if deeper_than(schema, limits.schema_depth) {
        return Err(too_deep(limits.schema_depth));
    }
    check_size(schema.to_string().len(), limits.schema_bytes)
}

pub(crate) fn check_size(bytes: usize, limit: usize) -> Result<(), SchemaRejection> {
    if bytes > limit {
        return Err(SchemaRejection::over_limit(format!(
            "it has {bytes} bytes, more than the limit of {limit}"
        )));
    }
    Ok(())
}

pub(crate) fn too_deep(limit: usize) -> SchemaRejection {
    SchemaRejection::over_limit(format!("it is nested more than {limit} levels deep"))
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    let mut inner = match value {
        Value::Array(items) => items.iter().collect::<Vec<_>>(),
        Value::Object(members) => members.values().collect(),
        _ => return false,
    };
    match levels.checked_sub(1) {
        None => true,
        Some(left) => inner.drain(..).any(|value| deeper_than(value, left)),
    }
}

/// Counts subschemas as often as they are reached: a fan-out of references makes validation exponential, and a long
/// chain of references is as deep as nesting.
pub(super) fn count(graph: &SchemaGraph, limits: &Limits) -> Result<(), SchemaRejection> {
    let mut counter = Counter { graph, counted: vec![Count::Unseen; graph.len()], limits };
    let total = counter.visit(SchemaGraph::ROOT, 0)?;
    if total > limits.schema_nodes {
        return Err(SchemaRejection::over_limit(format!(
            "it has more than {} subschemas once its references are followed",
            limits.schema_nodes
        )));
    }
    Ok(())
}

/// Factor by which references may exceed the nesting limit.
const LEVELS_WITH_REFERENCES: usize = 8;

struct Counter<'g> {
    graph: &'g SchemaGraph,
    counted: Vec<Count>,
    limits: &'g Limits,
}

#[derive(Clone, Copy)]
enum Count {
    Unseen,
    /// Being visited: a recursive schema, whose depth the instance bounds.
    Open,
    Done(u64),
}

impl Counter<'_> {
    fn visit(&mut self, node: NodeId, depth: usize) -> Result<u64, SchemaRejection> {
        match self.counted.get(node.index()) {
            Some(Count::Unseen) => {}
            Some(Count::Done(total)) => return Ok(*total),
            Some(Count::Open) | None => return Ok(1),
        }
        if depth > self.limits.schema_depth.saturating_mul(LEVELS_WITH_REFERENCES) {
            return Err(SchemaRejection::over_limit("its chain of references is too long"));
        }
        self.set(node, Count::Open);
        let mut total = 1_u64;
        for child in self.graph.node(node).children() {
            total = total.saturating_add(self.visit(child, depth + 1)?);
            if total > self.limits.schema_nodes {
                break;
            }
        }
        self.set(node, Count::Done(total));
        Ok(total)
    }

    fn set(&mut self, node: NodeId, count: Count) {
        if let Some(slot) = self.counted.get_mut(node.index()) {
            *slot = count;
        }
    }
}
