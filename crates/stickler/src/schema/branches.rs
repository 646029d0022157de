//! Compiled branches: determines which alternatives of a schema a value satisfies.
//!
//! The engine does not report which branch of an `anyOf` was satisfied. If that affects which names
//! an object may have, each branch is compiled separately, once.

use std::collections::HashMap;

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::engine::Engines;
use super::parts::Parts;
use super::{NodeId, SchemaGraph, SchemaRejection};
use crate::config::{Formats, Limits};
use crate::tape::{EngineNode, Node, StepBudget, TapeJson};

#[derive(Debug, Default)]
pub(crate) struct Branches(HashMap<NodeId, Validator<TapeJson>>);

impl Branches {
    pub(super) fn compile(
        schema: &Value,
        dialect: Draft,
        graph: &SchemaGraph,
        formats: Formats,
        engines: Engines,
        limits: &Limits,
    ) -> Result<Self, SchemaRejection> {
        let branches = Self::to_compile(graph);
        if branches.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let parts = Parts::of(schema, dialect)?;
        branches
            .into_iter()
            .map(|id| {
                let pointer = &graph.node(id).pointer;
                Ok((id, parts.compile(pointer, formats, engines, limits)?))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether the value satisfies a branch. A branch that was not compiled counts as satisfied.
    pub(crate) fn holds(&self, branch: NodeId, node: Node<'_>, budget: &StepBudget) -> bool {
        self.0
            .get(&branch)
            .is_none_or(|validator| validator.is_valid(EngineNode::new(node, budget)))
    }

    /// Returns the branches that are compiled separately.
    pub(super) fn to_compile(graph: &SchemaGraph) -> Vec<NodeId> {
        let mut branches: Vec<NodeId> = graph
            .iter()
            .flat_map(|node| {
                let choices = node.choices.iter().filter(|choice| choice.matters);
                let branches = choices.flat_map(|choice| choice.branches.iter().copied());
                branches.chain(node.condition.iter().map(|condition| condition.when))
            })
            .collect();
        branches.sort_unstable();
        branches.dedup();
        branches
    }
}
