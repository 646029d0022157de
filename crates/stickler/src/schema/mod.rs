//! Admits and compiles the schema of a tool, once.
//!
//! [`MeasuredSchema::measure`] reads a schema in linear time: size, depth, dialect, the
//! [`SchemaGraph`] (what may stand where, references resolved), the sizes of its patterns, and from
//! them the memory that it takes when compiled. [`MeasuredSchema::compile`] does the expensive part.
//! A schema that cannot be used is a [`SchemaRefusal`], a sentence for its author.

mod admission;
mod branches;
mod checker;
mod cost;
mod dialect;
#[cfg(test)]
mod differential;
mod engine;
mod graph;
mod mapping;
mod measuring;
mod parts;
mod pattern;
#[cfg(test)]
mod random_schemas;
mod refusal;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the suite is read from files")]
mod suite;

use jsonschema::Draft;
use serde_json::Value;

pub(crate) use admission::{check_size, too_deep};
use branches::Branches;
pub use checker::{Answer, Checker};
use engine::Engines;
pub use engine::Formats;
pub(crate) use graph::{Choice, Members, NodeId, SchemaGraph, SchemaNode};
use measuring::Adapted;
pub(crate) use parts::Parts;
pub(crate) use pattern::{has_many_classes, is_too_large};
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
    /// What the engine was given, where that is not the raw schema.
    adapted: Option<Value>,
    /// Which of its patterns are not checked, and why.
    pub(crate) unchecked: Option<String>,
}

/// A schema that was measured and not compiled yet.
#[derive(Debug)]
pub(crate) struct MeasuredSchema {
    raw: Value,
    dialect: Draft,
    graph: SchemaGraph,
    engines: Engines,
    adapted: Adapted,
    /// Estimated memory once it is compiled.
    pub(crate) bytes: usize,
}

impl MeasuredSchema {
    /// Reads a schema as far as that takes linear time.
    pub(crate) fn measure(raw: Value, limits: &Limits) -> Result<Self, SchemaRefusal> {
        admission::measure(&raw, limits)?;
        let dialect = dialect::of(&raw)?;
        let (graph, measured) = mapping::map(&raw, dialect, limits)?;
        admission::count(&graph, limits)?;
        let adapted = measured.apply(&raw, limits)?;
        let bytes = cost::estimate(&graph, limits.compiled_bytes_per_server);
        let engines =
            if measured.backtracks { Engines::LinearOrBacktracking } else { Engines::Linear };
        Ok(Self { raw, dialect, graph, engines, adapted, bytes })
    }

    /// Compiles it, which takes most of the time.
    pub(crate) fn compile(self, limits: &Limits) -> Result<CompiledSchema, SchemaRefusal> {
        let Self { raw, dialect, graph, engines, adapted, .. } = self;
        let schema = adapted.schema.as_ref().unwrap_or(&raw);
        let checker = Checker::compile_measured(schema, dialect, engines, limits)?;
        let branches = Branches::compile(schema, dialect, &graph, engines, limits)?;
        let Adapted { schema: adapted, unchecked } = adapted;
        Ok(CompiledSchema { raw, graph, branches, checker, adapted, unchecked })
    }
}

impl CompiledSchema {
    /// Whether the schema is small enough to be worked with at all. Comes first.
    pub fn measure(raw: &Value, limits: &Limits) -> Result<(), SchemaRefusal> {
        admission::measure(raw, limits)
    }

    /// A tool's schema, measured first. Alone it may take what a server may take.
    pub(crate) fn compile(raw: &Value, limits: &Limits) -> Result<Self, SchemaRefusal> {
        let measured = MeasuredSchema::measure(raw.clone(), limits)?;
        if measured.bytes > limits.compiled_bytes_per_server {
            return Err(SchemaRefusal::over_server_budget(limits));
        }
        measured.compile(limits)
    }

    /// What the engine was given.
    pub(crate) fn for_engine(&self) -> &Value {
        self.adapted.as_ref().unwrap_or(&self.raw)
    }

    /// A shape of the protocol: not counted, because nobody sent it, and without compiled branches,
    /// because its objects are never closed.
    pub fn compile_shape(raw: &Value, limits: &Limits) -> Result<Self, SchemaRefusal> {
        let (graph, _) = mapping::map(raw, dialect::of(raw)?, limits)?;
        let checker = Checker::compile(raw, Formats::Annotate, limits)?;
        let (raw, branches) = (raw.clone(), Branches::default());
        Ok(Self { raw, graph, branches, checker, adapted: None, unchecked: None })
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
