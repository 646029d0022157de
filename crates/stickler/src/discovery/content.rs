//! A distinct schema text, compiled on first use.
//!
//! All tools with the same text share it, in all lists of a cache. Concurrent users compile it once;
//! nothing else waits for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::JsonText;
use super::budget::{Budget, Charge};
use crate::config::Limits;
use crate::memory::{MemoryBudget, Reservation};
use crate::schema::{CompiledSchema, MeasuredSchema, SchemaRejection, check_size, too_deep};

/// Estimated memory of a schema that is not compiled, beside its text.
const CONTENT_OVERHEAD_BYTES: usize = 256;

#[derive(Debug)]
pub(super) struct Content {
    text: JsonText,
    /// Estimated memory of the compiled schema; measured on first use.
    estimate: OnceLock<usize>,
    compiled: OnceLock<Result<Compiled, SchemaRejection>>,
    _memory: Reservation,
}

#[derive(Debug)]
struct Compiled {
    schema: Arc<CompiledSchema>,
    charge: Charge,
}

fn schema_of(compiled: &Compiled) -> &Arc<CompiledSchema> {
    &compiled.schema
}

impl Content {
    pub(super) fn new(text: JsonText, memory: &MemoryBudget) -> Self {
        let memory = memory.charge(text.as_str().len() + CONTENT_OVERHEAD_BYTES);
        Self { text, estimate: OnceLock::new(), compiled: OnceLock::new(), _memory: memory }
    }

    pub(super) fn text(&self) -> &JsonText {
        &self.text
    }

    /// Returns the charged memory; `None` if the schema is not compiled.
    pub(super) fn charged(&self) -> Option<usize> {
        Some(self.compiled.get()?.as_ref().ok()?.charge.bytes())
    }

    /// Returns the known reason why the schema cannot be used.
    pub(super) fn failure(&self) -> Option<&SchemaRejection> {
        self.compiled.get()?.as_ref().err()
    }

    /// Returns the compiled schema. A schema that only exceeds the budget is retried on the next call.
    pub(super) fn compiled(
        &self,
        budget: &Budget<'_>,
        compilations: &AtomicU64,
    ) -> Result<&Arc<CompiledSchema>, SchemaRejection> {
        if let Some(outcome) = self.outcome() {
            return outcome;
        }
        self.compile(budget, compilations)?.as_ref().map(schema_of).map_err(Clone::clone)
    }

    /// Whether the schema was not compiled yet.
    pub(super) fn is_new(&self) -> bool {
        self.compiled.get().is_none()
    }

    /// Returns the result of the compilation if it is done.
    pub(super) fn outcome(&self) -> Option<Result<&Arc<CompiledSchema>, SchemaRejection>> {
        Some(self.compiled.get()?.as_ref().map(schema_of).map_err(Clone::clone))
    }

    fn compile(
        &self,
        budget: &Budget<'_>,
        compilations: &AtomicU64,
    ) -> Result<&Result<Compiled, SchemaRejection>, SchemaRejection> {
        if let Some(bytes) = self.estimate.get() {
            budget.check(*bytes)?;
        }
        let measured = match self.measure(budget.limits) {
            Ok(measured) => measured,
            Err(rejection) => return Ok(self.compiled.get_or_init(|| Err(rejection))),
        };
        let bytes = *self.estimate.get_or_init(|| measured.bytes);
        budget.check(bytes)?;
        Ok(self.compiled.get_or_init(|| {
            compilations.fetch_add(1, Ordering::Relaxed);
            let schema = Arc::new(measured.compile(budget.formats, budget.limits)?);
            Ok(Compiled { schema, charge: budget.charge(bytes) })
        }))
    }

    fn measure(&self, limits: &Limits) -> Result<MeasuredSchema, SchemaRejection> {
        check_size(self.text.as_str().len(), limits.schema_bytes)?;
        let value = self.text.read(|node| {
            if node.depth() > limits.schema_depth {
                return Err(too_deep(limits.schema_depth));
            }
            Ok(node.to_value())
        });
        match value {
            Some(value) => MeasuredSchema::measure(value?, limits),
            None => Err(SchemaRejection::new("it is not JSON")),
        }
    }
}
