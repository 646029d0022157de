//! One distinct schema text, compiled when it is first needed.
//!
//! All tools with the same text share it, in all lists of a cache. Two threads that need it at the
//! same time compile it once; nothing else waits for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::JsonText;
use super::budget::{Budget, Charge};
use crate::config::Limits;
use crate::schema::{CompiledSchema, MeasuredSchema, SchemaRefusal, check_size, too_deep};

#[derive(Debug)]
pub(super) struct Content {
    text: JsonText,
    /// Estimated memory once it is compiled; known when it was needed for the first time.
    estimate: OnceLock<usize>,
    compiled: OnceLock<Result<Compiled, SchemaRefusal>>,
}

#[derive(Debug)]
struct Compiled {
    schema: Arc<CompiledSchema>,
    charge: Charge,
}

impl Content {
    pub(super) fn new(text: JsonText) -> Self {
        Self { text, estimate: OnceLock::new(), compiled: OnceLock::new() }
    }

    pub(super) fn text(&self) -> &JsonText {
        &self.text
    }

    /// The memory that it is charged with; `None` when it is not compiled.
    pub(super) fn charged(&self) -> Option<usize> {
        Some(self.compiled.get()?.as_ref().ok()?.charge.bytes())
    }

    /// Why it cannot be used, as far as that is known.
    pub(super) fn failure(&self) -> Option<&SchemaRefusal> {
        self.compiled.get()?.as_ref().err()
    }

    /// The compiled schema. A schema that only lacks room in the budget is tried again next time.
    pub(super) fn compiled(
        &self,
        budget: &Budget<'_>,
        compilations: &AtomicU64,
    ) -> Result<&Arc<CompiledSchema>, SchemaRefusal> {
        let outcome = match self.compiled.get() {
            Some(outcome) => outcome,
            None => self.compile(budget, compilations)?,
        };
        outcome.as_ref().map(|compiled| &compiled.schema).map_err(Clone::clone)
    }

    fn compile(
        &self,
        budget: &Budget<'_>,
        compilations: &AtomicU64,
    ) -> Result<&Result<Compiled, SchemaRefusal>, SchemaRefusal> {
        if let Some(bytes) = self.estimate.get() {
            budget.check(*bytes)?;
        }
        let measured = match self.measure(budget.limits) {
            Ok(measured) => measured,
            Err(refusal) => return Ok(self.compiled.get_or_init(|| Err(refusal))),
        };
        let bytes = *self.estimate.get_or_init(|| measured.bytes);
        budget.check(bytes)?;
        Ok(self.compiled.get_or_init(|| {
            compilations.fetch_add(1, Ordering::Relaxed);
            let schema = Arc::new(measured.compile(budget.limits)?);
            Ok(Compiled { schema, charge: budget.charge(bytes) })
        }))
    }

    fn measure(&self, limits: &Limits) -> Result<MeasuredSchema, SchemaRefusal> {
        check_size(self.text.as_str().len(), limits.schema_bytes)?;
        let value = self.text.read(|node| {
            if node.depth() > limits.schema_depth {
                return Err(too_deep(limits.schema_depth));
            }
            Ok(node.to_value())
        });
        match value {
            Some(value) => MeasuredSchema::measure(value?, limits),
            None => Err(SchemaRefusal::new("it is not JSON")),
        }
    }
}
