//! Content shared by the tool lists of a cache: many sessions of a server list the same tools.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, Weak};

use super::budget::Budget;
use super::cache::{read, write};
use super::content::Content;
use super::listed::ListedTool;
use super::retained::Retained;
use super::{CacheStats, JsonText, ToolDefinition};
use crate::config::{Formats, Limits};
use crate::memory::MemoryBudget;

/// Holds weak references: content that no list uses is dropped, except what is retained.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) limits: Limits,
    formats: Formats,
    contents: RwLock<HashMap<JsonText, Weak<Content>>>,
    /// Tools by the hash of their definition.
    tools: RwLock<HashMap<u64, Weak<ListedTool>>>,
    /// Estimated memory of all compiled schemas.
    compiled_bytes: Arc<AtomicUsize>,
    pub(super) compilations: AtomicU64,
    pub(super) retained: Retained,
    pub(super) memory: Memory,
}

/// The budget of the process, and the share of it that tool lists may use.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    pub(super) process: MemoryBudget,
    pub(super) lists: MemoryBudget,
}

impl Memory {
    pub(super) fn of(process: &MemoryBudget) -> Self {
        Self { lists: process.share(process.limit() / 2), process: process.clone() }
    }
}

impl Shared {
    pub(super) fn new(limits: Limits, formats: Formats) -> Self {
        Self { limits, formats, ..Self::default() }
    }

    /// Creates content of which a part stays although no list uses it.
    pub(super) fn retaining(
        limits: Limits,
        formats: Formats,
        (bytes, memory): (usize, &Memory),
    ) -> Self {
        let (retained, memory) = (Retained::new(bytes), memory.clone());
        Self { limits, formats, retained, memory, ..Self::default() }
    }

    pub(super) fn has_settings(&self, limits: &Limits, formats: Formats) -> bool {
        self.limits == *limits && self.formats == formats
    }

    /// Returns the shared tool for a definition without compiling its schema.
    pub(super) fn tool(&self, tool: &ToolDefinition, schema: &JsonText) -> Arc<ListedTool> {
        let key = key_of(tool, schema);
        if let Some(known) = read(&self.tools).get(&key).and_then(Weak::upgrade)
            && known.is_of(tool, schema)
        {
            return known;
        }
        let listed = Arc::new(ListedTool::new(tool, self.content(schema), &self.memory.lists));
        write(&self.tools).insert(key, Arc::downgrade(&listed));
        listed
    }

    /// Returns the shared content for a schema text.
    pub(super) fn content(&self, text: &JsonText) -> Arc<Content> {
        if let Some(known) = read(&self.contents).get(text).and_then(Weak::upgrade) {
            return known;
        }
        let content = Arc::new(Content::new(text.clone(), &self.memory.lists));
        write(&self.contents).insert(text.clone(), Arc::downgrade(&content));
        content
    }

    /// Returns the budget of a list with an initial charge.
    pub(super) fn budget<'b>(&'b self, server: &'b AtomicUsize) -> Budget<'b> {
        Budget {
            limits: &self.limits,
            formats: self.formats,
            server,
            total: &self.compiled_bytes,
            retained: &self.retained,
        }
    }

    pub(super) fn count(&self, stats: &mut CacheStats) {
        stats.compilations = self.compilations.load(Ordering::Relaxed);
        stats.compiled_bytes = self.compiled_bytes.load(Ordering::Relaxed);
        let contents = read(&self.contents);
        let compiled = contents.values().filter_map(Weak::upgrade);
        stats.compiled_schemas = compiled.filter(|one| one.charged().is_some()).count();
    }

    /// Removes content that no list uses.
    pub(super) fn remove_unused(&self) {
        write(&self.contents).retain(|_, one| one.strong_count() > 0);
        write(&self.tools).retain(|_, one| one.strong_count() > 0);
    }

    pub(super) fn clear(&self) {
        self.retained.clear();
        self.remove_unused();
    }
}

fn key_of(tool: &ToolDefinition, schema: &JsonText) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&tool.name, &tool.description, &tool.documentation, schema).hash(&mut hasher);
    hasher.finish()
}
