//! What several tool lists have in common, once: many sessions of a server list the same tools.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, RwLock, Weak};

use serde_json::Value;

use super::cache::{read, write};
use super::{CachedSchema, OutputSchema, ToolDefinition};
use crate::config::Limits;
use crate::schema::{CompiledSchema, SchemaRefusal};

/// Nothing is kept alive here: what no list has any more is gone.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// By their text.
    compiled: RwLock<HashMap<Box<str>, Weak<CompiledSchema>>>,
    outputs: RwLock<HashMap<Box<str>, Weak<OutputSchema>>>,
    /// By a hash of all that is said of them.
    tools: RwLock<HashMap<u64, Weak<CachedSchema>>>,
}

impl Shared {
    /// A tool with a schema that can be used.
    pub(super) fn tool(
        &self,
        tool: &ToolDefinition,
        schema: &Value,
        limits: &Limits,
    ) -> Result<Arc<CachedSchema>, SchemaRefusal> {
        CompiledSchema::measure(schema, limits)?;
        let text = schema.to_string();
        let key = key_of(tool, &text);
        if let Some(known) = read(&self.tools).get(&key).and_then(Weak::upgrade)
            && known.is_of(tool, schema)
        {
            return Ok(known);
        }
        let compiled = self.compile(schema, text.into_boxed_str(), limits)?;
        let cached = Arc::new(CachedSchema::new(tool, compiled));
        write(&self.tools).insert(key, Arc::downgrade(&cached));
        Ok(cached)
    }

    pub(super) fn output(&self, schema: &Value) -> Arc<OutputSchema> {
        let text = schema.to_string().into_boxed_str();
        if let Some(known) = read(&self.outputs).get(&text).and_then(Weak::upgrade) {
            return known;
        }
        let output = Arc::new(OutputSchema::new(schema.clone()));
        write(&self.outputs).insert(text, Arc::downgrade(&output));
        output
    }

    fn compile(
        &self,
        schema: &Value,
        text: Box<str>,
        limits: &Limits,
    ) -> Result<Arc<CompiledSchema>, SchemaRefusal> {
        if let Some(known) = read(&self.compiled).get(&text).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let compiled = Arc::new(CompiledSchema::compile(schema, limits)?);
        write(&self.compiled).insert(text, Arc::downgrade(&compiled));
        Ok(compiled)
    }

    /// How many different schemas there are.
    pub(super) fn distinct(&self) -> usize {
        read(&self.compiled).values().filter(|one| one.strong_count() > 0).count()
    }

    /// Forgets what no list has any more.
    pub(super) fn tidy(&self) {
        write(&self.compiled).retain(|_, one| one.strong_count() > 0);
        write(&self.outputs).retain(|_, one| one.strong_count() > 0);
        write(&self.tools).retain(|_, one| one.strong_count() > 0);
    }

    pub(super) fn clear(&self) {
        write(&self.compiled).clear();
        write(&self.outputs).clear();
        write(&self.tools).clear();
    }
}

fn key_of(tool: &ToolDefinition, schema: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&tool.name, &tool.description, &tool.documentation, schema).hash(&mut hasher);
    hasher.finish()
}
