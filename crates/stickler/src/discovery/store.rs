//! Schemas that several caches share: a schema is compiled once per distinct content, for whichever cache needs
//! it first.
//!
//! A program has one store for all of its servers, recordings or connections and creates its validators with
//! [`McpValidator::with_schema_store`](crate::McpValidator::with_schema_store). Caches share the schemas of a store if
//! their limits and formats are equal. The limit for the memory of all compiled schemas then applies to all of these
//! caches together.
//!
//! A store keeps some schemas that no list uses any more, because the next session of a server lists the same
//! tools. They are dropped, the oldest first, when they need too much memory or when a list needs it.

use std::sync::{Arc, Mutex, PoisonError};

use super::shared::{Memory, Shared};
use crate::config::{Formats, Limits};
use crate::memory::MemoryBudget;

/// Maximum estimated memory of compiled schemas that no list uses.
const RETAINED_BYTES: usize = 32 << 20;

/// Compiled schemas shared by the caches of several validators. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct SchemaStore {
    all: Arc<Mutex<Vec<Arc<Shared>>>>,
    memory: Memory,
}

impl SchemaStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty store whose caches count their lists towards a budget. They may use half of it.
    pub fn with_memory(budget: &MemoryBudget) -> Self {
        Self { memory: Memory::of(budget), ..Self::default() }
    }

    /// Returns the content for caches with these settings.
    pub(super) fn shared(&self, limits: Limits, formats: Formats) -> Arc<Shared> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|one| one.has_settings(&limits, formats)) {
            return Arc::clone(known);
        }
        let shared = Arc::new(Shared::retaining(limits, formats, (RETAINED_BYTES, &self.memory)));
        all.push(Arc::clone(&shared));
        shared
    }
}
