//! Admits and compiles the schema of a tool, once.
//!
//! [`MeasuredSchema::measure`] reads a schema in linear time: size, depth, dialect, the
//! [`SchemaGraph`] (subschemas with resolved references), the sizes of its patterns, and the estimated memory of
//! the compiled schema. [`MeasuredSchema::compile`] does the expensive part.
//! A schema that cannot be used yields a [`SchemaRejection`] with the reason.

mod admission;
mod branches;
mod checker;
mod cost;
mod dialect;
#[cfg(test)]
mod differential;
mod engine;
mod escapes;
mod graph;
mod mapping;
mod measuring;
mod parts;
mod pattern;
#[cfg(test)]
mod random_schemas;
mod rejection;
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
pub(crate) use escapes::has_many_classes;
pub(crate) use graph::{Choice, Members, NodeId, SchemaGraph, SchemaNode};
use measuring::Adapted;
pub(crate) use parts::Parts;
pub(crate) use pattern::is_too_large;
pub use rejection::SchemaRejection;

use crate::config::Limits;
use crate::tape::{Node, StepBudget};

/// A compiled schema.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) raw: Value,
    pub(crate) graph: SchemaGraph,
    pub(crate) branches: Branches,
    checker: Checker,
    /// The schema that the engine compiled, if it differs from the raw one.
    adapted: Option<Value>,
    /// The patterns that are not checked, with the reason.
    pub(crate) unchecked: Option<String>,
}

/// A schema that was measured but not compiled.
#[derive(Debug)]
pub(crate) struct MeasuredSchema {
    raw: Value,
    dialect: Draft,
    graph: SchemaGraph,
    engines: Engines,
    adapted: Adapted,
    /// Estimated memory of the compiled schema.
    pub(crate) bytes: usize,
}

impl MeasuredSchema {
    /// Measures a schema in linear time.
    pub(crate) fn measure(raw: Value, limits: &Limits) -> Result<Self, SchemaRejection> {
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

    /// Compiles the schema, which takes most of the time.
    pub(crate) fn compile(self, limits: &Limits) -> Result<CompiledSchema, SchemaRejection> {
        let Self { raw, dialect, graph, engines, adapted, .. } = self;
        let schema = adapted.schema.as_ref().unwrap_or(&raw);
        let checker = Checker::compile_measured(schema, dialect, engines, limits)?;
        let branches = Branches::compile(schema, dialect, &graph, engines, limits)?;
        let Adapted { schema: adapted, unchecked } = adapted;
        Ok(CompiledSchema { raw, graph, branches, checker, adapted, unchecked })
    }
}

impl CompiledSchema {
    /// Checks that the schema is within the size limits. Must precede everything else.
    pub fn measure(raw: &Value, limits: &Limits) -> Result<(), SchemaRejection> {
        admission::measure(raw, limits)
    }

    /// Measures and compiles the schema of a tool, with the whole budget of a server.
    pub(crate) fn compile(raw: &Value, limits: &Limits) -> Result<Self, SchemaRejection> {
        let measured = MeasuredSchema::measure(raw.clone(), limits)?;
        if measured.bytes > limits.compiled_bytes_per_server {
            return Err(SchemaRejection::over_server_budget(limits));
        }
        measured.compile(limits)
    }

    /// Returns the schema that the engine compiled.
    pub(crate) fn for_engine(&self) -> &Value {
        self.adapted.as_ref().unwrap_or(&self.raw)
    }

    /// Compiles a protocol definition: without limits on subschemas, because no peer sent it, and without compiled
    /// branches, because its objects are never closed.
    pub fn compile_shape(raw: &Value, limits: &Limits) -> Result<Self, SchemaRejection> {
        let (graph, _) = mapping::map(raw, dialect::of(raw)?, limits)?;
        let checker = Checker::compile(raw, Formats::Annotate, limits)?;
        let (raw, branches) = (raw.clone(), Branches::default());
        Ok(Self { raw, graph, branches, checker, adapted: None, unchecked: None })
    }

    /// Returns whether the schema accepts a value.
    pub fn check(&self, node: Node<'_>, steps: u32) -> Answer {
        self.checker.check(node, steps)
    }

    /// Returns the engine's errors for an invalid value, within the budget.
    pub(crate) fn errors<'i>(
        &'i self,
        node: Node<'i>,
        budget: &'i StepBudget,
    ) -> Vec<jsonschema::ValidationError<'i>> {
        self.checker.errors(node, budget)
    }

    /// Returns the part of the raw schema at a JSON Pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.raw.pointer(pointer)
    }
}
