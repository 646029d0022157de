//! What a tool promises about its structured results.

use std::sync::OnceLock;

use serde_json::Value;

use crate::config::Limits;
use crate::schema::CompiledSchema;

/// A tool's `outputSchema`, compiled when its first result comes: many tools are listed and never
/// called.
#[derive(Debug)]
pub(crate) struct OutputSchema {
    raw: Value,
    compiled: OnceLock<Option<CompiledSchema>>,
}

impl OutputSchema {
    pub(super) fn new(raw: Value) -> Self {
        Self { raw, compiled: OnceLock::new() }
    }

    /// The schema, or `None` when it cannot be used.
    pub(crate) fn compiled(&self, limits: &Limits) -> Option<&CompiledSchema> {
        let compile = || {
            CompiledSchema::measure(&self.raw, limits).ok()?;
            CompiledSchema::compile(&self.raw, limits).ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}
