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
mod formats;
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
pub(crate) use escapes::has_many_classes;
pub(crate) use graph::{Choice, Members, NodeId, SchemaGraph, SchemaNode};
use measuring::Adapted;
pub(crate) use parts::Parts;
pub(crate) use pattern::is_too_large;
pub use rejection::SchemaRejection;

use crate::config::{Formats, Limits};
use crate::tape::{Node, StepBudget};

/// A compiled schema.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) raw: Value,
    pub(crate) graph: SchemaGraph,
    pub(crate) branches: Branches,
    checker: Checker,
    /// The check with strict formats, if lenient ones can make the schema reject more.
    strict: Option<Box<Checker>>,
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
    /// Whether accepting more values for a format can make the schema reject more calls, for example in `oneOf`.
    widened_formats_reject: bool,
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
        let widened_formats_reject = measured.widens_formats && measured.widening_rejects;
        let checkers = if widened_formats_reject { 2 } else { 1 };
        let bytes = cost::estimate(&graph, limits.compiled_bytes_per_server);
        let bytes = bytes.saturating_mul(checkers);
        let engines =
            if measured.backtracks { Engines::LinearOrBacktracking } else { Engines::Linear };
        Ok(Self { raw, dialect, graph, engines, adapted, widened_formats_reject, bytes })
    }

    /// Compiles the schema, which takes most of the time.
    pub(crate) fn compile(
        self,
        formats: Formats,
        limits: &Limits,
    ) -> Result<CompiledSchema, SchemaRejection> {
        let Self { raw, dialect, graph, engines, adapted, .. } = self;
        let schema = adapted.schema.as_ref().unwrap_or(&raw);
        let compile =
            |formats| Checker::compile_measured(schema, dialect, formats, engines, limits);
        let checker = compile(formats)?;
        let is_checked_twice = formats == Formats::Lenient && self.widened_formats_reject;
        let strict =
            is_checked_twice.then(|| compile(Formats::Strict).map(Box::new)).transpose()?;
        let branches = Branches::compile(schema, dialect, &graph, formats, engines, limits)?;
        let Adapted { schema: adapted, unchecked } = adapted;
        Ok(CompiledSchema { raw, graph, branches, checker, strict, adapted, unchecked })
    }
}

impl CompiledSchema {
    /// Checks that the schema is within the size limits. Must precede everything else.
    pub fn measure(raw: &Value, limits: &Limits) -> Result<(), SchemaRejection> {
        admission::measure(raw, limits)
    }

    /// Measures and compiles the schema of a tool, with lenient formats and the whole budget of a server.
    pub(crate) fn compile(raw: &Value, limits: &Limits) -> Result<Self, SchemaRejection> {
        let measured = MeasuredSchema::measure(raw.clone(), limits)?;
        if measured.bytes > limits.compiled_bytes_per_server {
            return Err(SchemaRejection::over_server_budget(limits));
        }
        measured.compile(Formats::default(), limits)
    }

    /// Returns the schema that the engine compiled.
    pub(crate) fn for_engine(&self) -> &Value {
        self.adapted.as_ref().unwrap_or(&self.raw)
    }

    /// Compiles a protocol definition: without limits on subschemas, because no peer sent it, and without compiled
    /// branches, because its objects are never closed.
    pub fn compile_shape(raw: &Value, limits: &Limits) -> Result<Self, SchemaRejection> {
        let (graph, _) = mapping::map(raw, dialect::of(raw)?, limits)?;
        let checker = Checker::compile(raw, Formats::Ignore, limits)?;
        let (raw, branches) = (raw.clone(), Branches::default());
        Ok(Self { raw, graph, branches, checker, strict: None, adapted: None, unchecked: None })
    }

    /// Returns whether the schema accepts a value.
    pub fn check(&self, node: Node<'_>, steps: u32) -> Answer {
        match (self.checker.check(node, steps), &self.strict) {
            // A date that also passes as a `date-time` can satisfy both branches of a `oneOf`.
            (Answer::Invalid, Some(strict)) => strict.check(node, steps),
            (answer, _) => answer,
        }
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
