//! A tool's schema, admitted and compiled once.
//!
//! [`CompiledSchema::measure`] and then [`CompiledSchema::compile`] are the only way in: the schema is
//! measured before anything expensive is done with it, mapped into a [`SchemaGraph`] (what may stand where, references resolved), and
//! compiled for the engine. A schema that cannot be used is a [`SchemaRefusal`], a sentence for
//! the person who wrote it.

mod admission;
mod branches;
mod checker;
mod dialect;
#[cfg(test)]
mod differential;
mod engine;
mod graph;
mod mapping;
mod parts;
#[cfg(test)]
mod random_schemas;
mod refusal;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the suite is read from files")]
mod suite;

use serde_json::Value;

pub(crate) use admission::{check_size, too_deep};
use branches::Branches;
pub use checker::{Answer, Checker};
pub use engine::Formats;
pub(crate) use graph::{Choice, Members, NodeId, SchemaGraph, SchemaNode};
pub(crate) use parts::Parts;
pub use refusal::SchemaRefusal;

use crate::config::Limits;
use crate::tape::{Node, StepBudget};

/// A schema that can be asked.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) raw: Value,
    pub(crate) graph: SchemaGraph,
    pub(crate) branches: Branches,
    checker: Checker,
}

impl CompiledSchema {
    /// Whether the schema is small enough to be worked with at all. Comes first.
    pub fn measure(raw: &Value, limits: &Limits) -> Result<(), SchemaRefusal> {
        admission::measure(raw, limits)
    }

    /// A tool's schema.
    pub(crate) fn compile(raw: &Value, limits: &Limits) -> Result<Self, SchemaRefusal> {
        let dialect = dialect::of(raw)?;
        let graph = mapping::map(raw, dialect)?;
        admission::count(&graph, limits)?;
        let checker = Checker::compile(raw, Formats::Assert, limits)?;
        let branches = Branches::compile(raw, dialect, &graph, limits)?;
        Ok(Self { raw: raw.clone(), graph, branches, checker })
    }

    /// A shape of the protocol: not counted, because nobody sent it, and without compiled branches,
    /// because its objects are never closed.
    pub fn compile_shape(raw: &Value, limits: &Limits) -> Result<Self, SchemaRefusal> {
        let graph = mapping::map(raw, dialect::of(raw)?)?;
        let checker = Checker::compile(raw, Formats::Annotate, limits)?;
        Ok(Self { raw: raw.clone(), graph, branches: Branches::default(), checker })
    }

    /// The yes or no that decides.
    pub fn check(&self, node: Node<'_>, steps: u32) -> Answer {
        self.checker.check(node, steps)
    }

    /// Everything the engine has to say about an invalid value, as far as the budget goes.
    pub(crate) fn errors<'i>(
        &'i self,
        node: Node<'i>,
        budget: &'i StepBudget,
    ) -> Vec<jsonschema::ValidationError<'i>> {
        self.checker.errors(node, budget)
    }

    /// The part of the raw schema at a JSON Pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.raw.pointer(pointer)
    }
}
