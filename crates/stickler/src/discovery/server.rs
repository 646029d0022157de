//! The tools of one server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::content::Content;
use super::listed::ListedTool;
use super::shared::Shared;
use super::{CachedSchema, Freshness, ToolDefinition};
use crate::error::McpSchemaError;
use crate::schema::{CompiledSchema, SchemaRefusal, check_size};

/// A list as it was learnt. Never changed once it can be seen; a new list replaces it whole.
#[derive(Debug, Clone)]
pub(crate) struct ServerTools {
    tools: HashMap<String, Entry>,
    names: Vec<String>,
    outputs: HashMap<String, Arc<Content>>,
    /// Tools that the server has listed before and lists no more.
    former: HashSet<String>,
    pub(super) freshness: Freshness,
    pub(super) incomplete: bool,
    pub(super) has_mirrors: bool,
    /// Estimated memory of what was compiled for this list.
    compiled_bytes: Arc<AtomicUsize>,
    shared: Arc<Shared>,
}

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
            has_mirrors: false,
            compiled_bytes: Arc::default(),
            shared: Arc::clone(shared),
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The schema of a tool, compiled now if need be; `None` when there is none that can be used.
    pub(crate) fn get(&self, tool: &str) -> Option<&Arc<CachedSchema>> {
        match self.tools.get(tool) {
            Some(Entry::Listed(listed)) => self.cached(listed).ok(),
            _ => None,
        }
    }

    /// What a tool promises about its structured results, compiled now if need be.
    pub(crate) fn output(&self, tool: &str) -> Option<&Arc<CompiledSchema>> {
        self.compiled(self.outputs.get(tool)?).ok()
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

    /// What calls of a tool are checked by.
    pub(super) fn cached<'t>(
        &'t self,
        listed: &'t ListedTool,
    ) -> Result<&'t Arc<CachedSchema>, SchemaRefusal> {
        match listed.ready() {
            Some(cached) => Ok(cached),
            None => listed.cached(|content| self.compiled(content)),
        }
    }

    fn compiled<'t>(&self, content: &'t Content) -> Result<&'t Arc<CompiledSchema>, SchemaRefusal> {
        content.compiled(&self.shared.budget(&self.compiled_bytes), &self.shared.compilations)
    }

    /// Which tools of an older list are not in this one, at most so many.
    pub(super) fn remember(&mut self, older: &Self, most: usize) {
        let names = older.names.iter().chain(&older.former);
        let gone = names.filter(|name| !self.tools.contains_key(*name)).take(most);
        self.former = gone.cloned().collect();
    }

    /// Charges the list with what an older one of its schemas had compiled.
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

    /// The same list, which may have changed since.
    pub(super) fn stale(&self) -> Self {
        let mut stale = self.clone();
        stale.freshness.changed = true;
        stale
    }

    /// Takes a tool in without compiling anything.
    pub(super) fn insert(&mut self, tool: &ToolDefinition) -> &Entry {
        if let Some(schema) = &tool.output_schema {
            self.outputs.insert(tool.name.clone(), self.shared.content(schema));
        }
        let entry = self.listed(tool);
        if let Entry::Listed(listed) = &entry {
            self.has_mirrors |= listed.has_mirrors;
        }
        if !self.tools.contains_key(&tool.name) {
            self.names.push(tool.name.clone());
        }
        self.tools.entry(tool.name.clone()).insert_entry(entry).into_mut()
    }

    fn listed(&self, tool: &ToolDefinition) -> Entry {
        let schema = match (tool.unreadable(), &tool.input_schema) {
            (Some(refusal), _) => Err(refusal.clone()),
            (None, None) => return Entry::WithoutSchema,
            (None, Some(schema)) => {
                let size = check_size(schema.as_str().len(), self.shared.limits.schema_bytes);
                size.and_then(|()| is_schema(schema.as_str())).map(|()| schema)
            }
        };
        match schema {
            Ok(schema) => Entry::Listed(self.shared.tool(tool, schema)),
            Err(refusal) => Entry::Quarantined(quarantine(&tool.name, &refusal)),
        }
    }
}

pub(super) fn quarantine(tool: &str, refusal: &SchemaRefusal) -> McpSchemaError {
    McpSchemaError { tool: tool.to_owned(), reason: refusal.to_string() }
}

/// By its first letter: the text is known to be JSON.
fn is_schema(text: &str) -> Result<(), SchemaRefusal> {
    match text.trim_start().bytes().next() {
        Some(b'{' | b't' | b'f') => Ok(()),
        _ => Err(SchemaRefusal::new("it is neither an object nor a boolean")),
    }
}
