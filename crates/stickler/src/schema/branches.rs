//! Compiled branches: which of the alternatives in a schema hold for a value.
//!
//! The engine does not say which branch of an `anyOf` was satisfied. Where that makes a difference
//! to which names an object may have, each branch is compiled on its own, once.

use std::collections::HashMap;

use jsonschema::{Draft, Validator};
use referencing::Registry;
use serde_json::{Value, json};

use super::mapping::BASE;
use super::{Formats, NodeId, SchemaGraph, SchemaRefusal, engine};
use crate::config::Limits;
use crate::tape::{EngineNode, Node, StepBudget, TapeJson};

#[derive(Debug, Default)]
pub(crate) struct Branches(HashMap<NodeId, Validator<TapeJson>>);

impl Branches {
    pub(super) fn compile(
        schema: &Value,
        dialect: Draft,
        graph: &SchemaGraph,
        limits: &Limits,
    ) -> Result<Self, SchemaRefusal> {
        let wanted = wanted(graph);
        if wanted.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let resource = dialect.create_resource_ref(schema);
        let base = resource.id().unwrap_or(BASE).trim_end_matches('#').to_owned();
        let registry = Registry::new()
            .draft(dialect)
            .add(&base, resource)
            .and_then(referencing::RegistryBuilder::prepare)
            .map_err(|error| SchemaRefusal::from_reference(&error))?;
        wanted
            .into_iter()
            .map(|id| {
                let pointer = percent_encode(&graph.node(id).pointer);
                let part = json!({ "$ref": format!("{base}#{pointer}") });
                let branch =
                    engine::build_with(&part, dialect, Formats::Assert, limits, |options| {
                        options.with_registry(&registry).with_base_uri("json-schema:///branch")
                    })?;
                Ok((id, branch))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether that branch holds for the value. One that was not compiled makes no difference.
    pub(crate) fn holds(&self, branch: NodeId, node: Node<'_>, budget: &StepBudget) -> bool {
        self.0
            .get(&branch)
            .is_none_or(|validator| validator.is_valid(EngineNode::new(node, budget)))
    }
}

fn wanted(graph: &SchemaGraph) -> Vec<NodeId> {
    let mut wanted: Vec<NodeId> = graph
        .iter()
        .flat_map(|node| {
            let choices = node.choices.iter().filter(|choice| choice.matters);
            let branches = choices.flat_map(|choice| choice.branches.iter().copied());
            branches.chain(node.condition.iter().map(|condition| condition.when))
        })
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// A JSON Pointer as the fragment of an address.
fn percent_encode(pointer: &str) -> String {
    let mut encoded = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'$' => {
                encoded.push(char::from(byte));
            }
            _ => {
                use std::fmt::Write as _;
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}
