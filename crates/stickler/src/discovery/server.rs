//! The tools of one server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::content::Content;
use super::listed::ListedTool;
use super::retained::Kept;
use super::shared::Shared;
use super::{CachedSchema, Freshness, ToolDefinition};
use crate::error::McpSchemaError;
use crate::memory::Reservation;
use crate::schema::{CompiledSchema, SchemaRejection, check_size};
use crate::suggest::tool_names::Listed;

/// The tool list of a server. Immutable once published; a new list replaces it.
#[derive(Debug, Clone)]
pub(crate) struct ServerTools {
    tools: HashMap<String, Entry>,
    names: Vec<String>,
    outputs: HashMap<String, Arc<Content>>,
    /// Tools that the server listed earlier and no longer does.
    former: HashSet<String>,
    pub(super) freshness: Freshness,
    pub(super) incomplete: bool,
    pub(super) has_param_headers: bool,
    /// Estimated memory of the schemas compiled for this list.
    compiled_bytes: Arc<AtomicUsize>,
    /// What the list needs beside the content that it shares.
    memory_of_names: Option<Arc<Reservation>>,
    shared: Arc<Shared>,
}

/// Estimated memory of an entry, beside the names.
const ENTRY_BYTES: usize = 256;

#[derive(Debug, Clone)]
pub(super) enum Entry {
    Listed(Arc<ListedTool>),
    WithoutSchema,
    Quarantined(McpSchemaError),
}

impl ServerTools {
    pub(super) fn new(shared: &Arc<Shared>, freshness: Freshness) -> Self {
        Self {
            tools: HashMap::new(),
            names: Vec::new(),
            outputs: HashMap::new(),
            former: HashSet::new(),
            freshness,
            incomplete: false,
            has_param_headers: false,
            compiled_bytes: Arc::default(),
            memory_of_names: None,
            shared: Arc::clone(shared),
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the schema of a tool, compiling it if needed; `None` if it cannot be used.
    pub(crate) fn get(&self, tool: &str) -> Option<&Arc<CachedSchema>> {
        match self.tools.get(tool) {
            Some(Entry::Listed(listed)) => self.cached(listed).ok(),
            _ => None,
        }
    }

    /// Whether a schema of a tool has not been compiled yet.
    pub(crate) fn needs_compilation(&self, tool: &str) -> bool {
        let input = match self.tools.get(tool) {
            Some(Entry::Listed(listed)) => listed.ready().is_none() && listed.input.is_new(),
            _ => false,
        };
        input || self.outputs.get(tool).is_some_and(|content| content.is_new())
    }

    /// Returns the tools with their descriptions in list order.
    pub(crate) fn described(&self) -> Vec<Listed<'_>> {
        let listed = self.names.iter().map(|name| {
            let description = match self.tools.get(name) {
                Some(Entry::Listed(listed)) => listed.description(),
                _ => None,
            };
            Listed { name, description }
        });
        listed.collect()
    }

    /// Returns the output schema of a tool, compiling it if needed.
    pub(crate) fn output(&self, tool: &str) -> Option<&Arc<CompiledSchema>> {
        let content = self.outputs.get(tool)?;
        self.compiled(content, || Kept::Output(Arc::clone(content))).ok()
    }

    pub(super) fn entry(&self, tool: &str) -> Option<&Entry> {
        self.tools.get(tool)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.names.iter().filter_map(|name| Some((name.as_str(), self.tools.get(name)?)))
    }

    pub(super) fn was_listed(&self, tool: &str) -> bool {
        self.former.contains(tool)
    }

    /// Returns the compiled tool or the reason why it cannot be used.
    pub(super) fn cached<'t>(
        &'t self,
        listed: &'t Arc<ListedTool>,
    ) -> Result<&'t Arc<CachedSchema>, SchemaRejection> {
        match listed.ready() {
            Some(cached) => Ok(cached),
            None => {
                listed.cached(|content| self.compiled(content, || Kept::Tool(Arc::clone(listed))))
            }
        }
    }

    fn compiled<'t>(
        &self,
        content: &'t Content,
        kept: impl FnOnce() -> Kept,
    ) -> Result<&'t Arc<CompiledSchema>, SchemaRejection> {
        if let Some(outcome) = content.outcome() {
            return outcome;
        }
        let budget = self.shared.budget(&self.compiled_bytes);
        let compiled = content.compiled(&budget, &self.shared.compilations);
        if content.outcome().is_some() {
            self.shared.retained.keep(kept(), content);
        }
        compiled
    }

    /// Records which tools of an older list are missing, up to a limit.
    pub(super) fn remember(&mut self, older: &Self, max: usize) {
        let names = older.names.iter().chain(&older.former);
        let missing = names.filter(|name| !self.tools.contains_key(*name)).take(max);
        self.former = missing.cloned().collect();
    }

    /// Counts the names of the complete list towards the memory of lists.
    pub(super) fn charge_names(&mut self) {
        let bytes = |name: &String| 3 * name.len() + ENTRY_BYTES;
        let bytes = self.names.iter().chain(&self.former).map(bytes).sum();
        self.memory_of_names = Some(Arc::new(self.shared.memory.lists.charge(bytes)));
    }

    /// Charges the list for schemas that an older list compiled.
    pub(super) fn charge_known(&self) {
        let inputs = self.tools.values().filter_map(|entry| match entry {
            Entry::Listed(listed) => Some(&listed.input),
            _ => None,
        });
        let contents = inputs.chain(self.outputs.values());
        let compiled = contents.filter_map(|one| Some((Arc::as_ptr(one), one.charged()?)));
        let distinct: HashMap<_, usize> = compiled.collect();
        self.compiled_bytes.store(distinct.values().sum(), Ordering::Relaxed);
    }

    /// Returns the list marked as stale.
    pub(super) fn stale(&self) -> Self {
        let mut stale = self.clone();
        stale.freshness.changed = true;
        stale
    }

    /// Adds a tool without compiling its schema.
    pub(super) fn insert(&mut self, tool: &ToolDefinition) -> &Entry {
        if let Some(schema) = &tool.output_schema {
            self.outputs.insert(tool.name.clone(), self.shared.content(schema));
        }
        let entry = self.listed(tool);
        if let Entry::Listed(listed) = &entry {
            self.has_param_headers |= listed.has_param_headers;
        }
        if !self.tools.contains_key(&tool.name) {
            self.names.push(tool.name.clone());
        }
        self.tools.entry(tool.name.clone()).insert_entry(entry).into_mut()
    }

    fn listed(&self, tool: &ToolDefinition) -> Entry {
        let schema = match (tool.unreadable(), &tool.input_schema) {
            (Some(rejection), _) => Err(rejection.clone()),
            (None, None) => return Entry::WithoutSchema,
            (None, Some(schema)) => {
                let size = check_size(schema.as_str().len(), self.shared.limits.schema_bytes);
                size.and_then(|()| is_schema(schema.as_str())).map(|()| schema)
            }
        };
        match schema {
            Ok(schema) => Entry::Listed(self.shared.tool(tool, schema)),
            Err(rejection) => Entry::Quarantined(quarantine(&tool.name, &rejection)),
        }
    }
}

pub(super) fn quarantine(tool: &str, rejection: &SchemaRejection) -> McpSchemaError {
    McpSchemaError { tool: tool.to_owned(), reason: rejection.to_string() }
}

/// Checks the first character, because the text is known to be JSON.
fn is_schema(text: &str) -> Result<(), SchemaRejection> {
    match text.trim_start().bytes().next() {
        Some(b'{' | b't' | b'f') => Ok(()),
        _ => Err(SchemaRejection::new("it is neither an object nor a boolean")),
    }
}
