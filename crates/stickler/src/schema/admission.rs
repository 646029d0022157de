//! How large a schema may be. Asked once, before anything expensive is done with it.

use serde_json::Value;

use super::{NodeId, SchemaGraph, SchemaRefusal};
use crate::config::Limits;

/// Bytes and levels.
pub(super) fn measure(schema: &Value, limits: &Limits) -> Result<(), SchemaRefusal> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err(SchemaRefusal::new("it is neither an object nor a boolean"));
    }
    if deeper_than(schema, limits.schema_depth) {
        return Err(too_deep(limits.schema_depth));
    }
    check_size(schema.to_string().len(), limits.schema_bytes)
}

pub(crate) fn check_size(bytes: usize, limit: usize) -> Result<(), SchemaRefusal> {
    if bytes > limit {
        return Err(SchemaRefusal::over_limit(format!(
            "it has {bytes} bytes, more than the limit of {limit}"
        )));
    }
    Ok(())
}

pub(crate) fn too_deep(limit: usize) -> SchemaRefusal {
    SchemaRefusal::over_limit(format!("it is nested more than {limit} levels deep"))
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

/// Subschemas, each counted as often as it is reached: a fan-out of references makes even a yes or
/// no exponential, and a long chain of them is as deep as any nesting.
pub(super) fn count(graph: &SchemaGraph, limits: &Limits) -> Result<(), SchemaRefusal> {
    let mut counter = Counter { graph, counted: vec![Count::Unseen; graph.len()], limits };
    let total = counter.visit(SchemaGraph::ROOT, 0)?;
    if total > limits.schema_nodes {
        return Err(SchemaRefusal::over_limit(format!(
            "it has more than {} subschemas once its references are followed",
            limits.schema_nodes
        )));
    }
    Ok(())
}

/// References may add levels to those that are written, but not without end.
const LEVELS_WITH_REFERENCES: usize = 8;

struct Counter<'g> {
    graph: &'g SchemaGraph,
    counted: Vec<Count>,
    limits: &'g Limits,
}

#[derive(Clone, Copy)]
enum Count {
    Unseen,
    /// On the way down to here: a recursive schema, which the instance bounds.
    Open,
    Done(u64),
}

impl Counter<'_> {
    fn visit(&mut self, node: NodeId, depth: usize) -> Result<u64, SchemaRefusal> {
        match self.counted.get(node.index()) {
            Some(Count::Unseen) => {}
            Some(Count::Done(total)) => return Ok(*total),
            Some(Count::Open) | None => return Ok(1),
        }
        if depth > self.limits.schema_depth.saturating_mul(LEVELS_WITH_REFERENCES) {
            return Err(SchemaRefusal::over_limit("its references form too long a chain"));
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
