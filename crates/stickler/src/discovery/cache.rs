//! The tools of all servers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use super::{CachedSchema, Freshness, OutputSchema, ToolDefinition};
use crate::config::Limits;
use crate::error::McpSchemaError;
use crate::schema::{CompiledSchema, SchemaRefusal};

/// Tool schemas by server and tool. Can be shared between threads; a lock is held only to look up
/// or to replace, never while a schema is compiled or a call checked.
#[derive(Debug, Default)]
pub struct ToolSchemaCache {
    limits: Limits,
    /// Asked several times for each message, and mostly there is one.
    servers: RwLock<BTreeMap<String, Arc<ServerTools>>>,
    /// How often each server's tools have changed, whether they were known or not.
    changes: RwLock<HashMap<String, u64>>,
    /// One compiled form per distinct schema, whoever uses it.
    compiled: RwLock<HashMap<Box<str>, Weak<CompiledSchema>>>,
}

/// How many tools are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStats {
    /// Tools whose calls can be checked.
    pub tool_count: usize,
    /// Servers that were populated.
    pub servers: usize,
    /// Tools whose schema cannot be used.
    pub quarantined: usize,
    /// Distinct schemas among them.
    pub distinct_schemas: usize,
}

/// What came of learning a tool list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// Tools whose calls can be checked.
    pub usable: usize,
    /// Tools that have no schema: their calls pass.
    pub without_schema: usize,
    /// Tools whose schema cannot be used, with the reason.
    pub quarantined: Vec<McpSchemaError>,
    /// Tools past the limit, of which nothing was learnt.
    pub over_limit: usize,
}

/// The tools of one server. Never changed once it can be seen; a new list replaces it whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerTools {
    tools: HashMap<String, Entry>,
    names: Vec<String>,
    outputs: HashMap<String, Arc<OutputSchema>>,
    /// Tools that the server has listed before and lists no more.
    former: HashSet<String>,
    freshness: Freshness,
    incomplete: bool,
}

#[derive(Debug, Clone)]
enum Entry {
    Usable(Arc<CachedSchema>),
    WithoutSchema,
    Quarantined(McpSchemaError),
}

/// What is known about a tool.
pub(crate) enum Lookup {
    /// Its calls can be checked.
    Usable(Arc<CachedSchema>),
    /// Nothing can be said about its calls.
    Unchecked,
    /// Its schema cannot be used.
    Quarantined(McpSchemaError),
    /// The server does not have it, but has these.
    Unknown(Arc<ServerTools>),
}

impl ToolSchemaCache {
    /// An empty cache with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty cache.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Learns a server's tool list, in place of what was known of that server.
    pub fn populate(&self, server: &str, tools: &[ToolDefinition]) -> Discovery {
        self.populate_with(server, tools, Freshness::default())
    }

    /// The same, with how long the list may be relied on.
    pub fn populate_with(
        &self,
        server: &str,
        tools: &[ToolDefinition],
        freshness: Freshness,
    ) -> Discovery {
        let mut learnt = ServerTools { freshness, ..ServerTools::default() };
        let mut discovery = Discovery::default();
        for tool in tools {
            if learnt.names.len() >= self.limits.tools_per_server {
                discovery.over_limit += 1;
                learnt.incomplete = true;
                continue;
            }
            let entry = self.entry(tool);
            match &entry {
                Entry::Usable(_) => discovery.usable += 1,
                Entry::WithoutSchema => discovery.without_schema += 1,
                Entry::Quarantined(error) => discovery.quarantined.push(error.clone()),
            }
            learnt.insert(tool, entry);
        }
        let mut servers = write(&self.servers);
        if let Some(known) = servers.get(server) {
            learnt.remember(known, self.limits.tools_per_server);
        }
        servers.insert(server.to_owned(), Arc::new(learnt));
        drop(servers);
        write(&self.compiled).retain(|_, compiled| compiled.strong_count() > 0);
        discovery
    }

    /// Learns one tool, beside what is known of that server.
    pub fn register(&self, server: &str, tool: &ToolDefinition) -> Result<(), McpSchemaError> {
        let entry = self.entry(tool);
        let outcome = match &entry {
            Entry::Quarantined(error) => Err(error.clone()),
            _ => Ok(()),
        };
        let mut servers = write(&self.servers);
        let mut learnt = servers.get(server).map(|tools| (**tools).clone()).unwrap_or_default();
        learnt.insert(tool, entry);
        servers.insert(server.to_owned(), Arc::new(learnt));
        outcome
    }

    /// How far what is known of a server can be relied on; `None` when nothing is known.
    pub fn freshness(&self, server: &str) -> Option<Freshness> {
        read(&self.servers).get(server).map(|tools| tools.freshness)
    }

    /// Whether a server's tools are known, but may have changed since.
    pub fn is_stale(&self, server: &str, now: Duration) -> bool {
        self.freshness(server).is_some_and(|freshness| freshness.is_stale(now))
    }

    /// Notes that a server's tools have changed: what is known stays, but is stale.
    pub fn mark_changed(&self, server: &str) {
        *write(&self.changes).entry(server.to_owned()).or_default() += 1;
        self.mark_stale(server);
    }

    /// How often that was.
    pub(crate) fn changes(&self, server: &str) -> u64 {
        read(&self.changes).get(server).copied().unwrap_or_default()
    }

    /// Notes that what is known of a server's tools cannot be relied on.
    pub(crate) fn mark_stale(&self, server: &str) {
        let mut servers = write(&self.servers);
        if let Some(tools) = servers.get_mut(server) {
            let mut changed = (**tools).clone();
            changed.freshness.changed = true;
            *tools = Arc::new(changed);
        }
    }

    /// The schema of a tool, when there is one that can be used.
    pub fn get(&self, server: &str, tool: &str) -> Option<Arc<CachedSchema>> {
        match self.server(server)?.tools.get(tool)? {
            Entry::Usable(cached) => Some(Arc::clone(cached)),
            _ => None,
        }
    }

    /// The names of a server's tools, in the order they were learnt.
    pub fn tool_names(&self, server: &str) -> Vec<String> {
        self.server(server).map(|tools| tools.names.clone()).unwrap_or_default()
    }

    /// Whether a server has listed a tool before and lists it no more.
    pub(crate) fn was_listed(&self, server: &str, tool: &str) -> bool {
        self.server(server).is_some_and(|tools| tools.former.contains(tool))
    }

    /// The tools of a server whose schemas cannot be used.
    pub fn quarantined(&self, server: &str) -> Vec<McpSchemaError> {
        let Some(tools) = self.server(server) else {
            return Vec::new();
        };
        let refused = tools.names.iter().filter_map(|name| match tools.tools.get(name) {
            Some(Entry::Quarantined(error)) => Some(error.clone()),
            _ => None,
        });
        refused.collect()
    }

    /// Forgets a server; false when it was not known.
    pub fn remove_server(&self, server: &str) -> bool {
        write(&self.changes).remove(server);
        write(&self.servers).remove(server).is_some()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        write(&self.servers).clear();
        write(&self.changes).clear();
        write(&self.compiled).clear();
    }

    /// How many tools are known.
    pub fn stats(&self) -> CacheStats {
        let servers = read(&self.servers);
        let mut stats = CacheStats { servers: servers.len(), ..CacheStats::default() };
        for entry in servers.values().flat_map(|server| server.tools.values()) {
            match entry {
                Entry::Usable(_) => stats.tool_count += 1,
                Entry::Quarantined(_) => stats.quarantined += 1,
                Entry::WithoutSchema => {}
            }
        }
        let compiled = read(&self.compiled);
        stats.distinct_schemas = compiled.values().filter(|one| one.strong_count() > 0).count();
        stats
    }

    pub(crate) fn lookup(&self, server: &str, tool: &str) -> Lookup {
        let Some(tools) = self.server(server) else {
            return Lookup::Unchecked;
        };
        match tools.tools.get(tool) {
            Some(Entry::Usable(cached)) => Lookup::Usable(Arc::clone(cached)),
            Some(Entry::WithoutSchema) => Lookup::Unchecked,
            Some(Entry::Quarantined(error)) => Lookup::Quarantined(error.clone()),
            None if tools.incomplete => Lookup::Unchecked,
            None => Lookup::Unknown(tools),
        }
    }

    pub(crate) fn server(&self, server: &str) -> Option<Arc<ServerTools>> {
        read(&self.servers).get(server).map(Arc::clone)
    }

    fn entry(&self, tool: &ToolDefinition) -> Entry {
        let compiled = match (tool.unreadable(), &tool.input_schema) {
            (Some(refusal), _) => Err(refusal.clone()),
            (None, None) => return Entry::WithoutSchema,
            (None, Some(schema)) => self.compile(schema),
        };
        match compiled {
            Ok(compiled) => Entry::Usable(Arc::new(CachedSchema::new(tool, compiled))),
            Err(refusal) => Entry::Quarantined(McpSchemaError {
                tool: tool.name.clone(),
                reason: refusal.to_string(),
            }),
        }
    }

    fn compile(&self, schema: &serde_json::Value) -> Result<Arc<CompiledSchema>, SchemaRefusal> {
        CompiledSchema::measure(schema, &self.limits)?;
        let text = schema.to_string().into_boxed_str();
        if let Some(known) = read(&self.compiled).get(&text).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let compiled = Arc::new(CompiledSchema::compile(schema, &self.limits)?);
        write(&self.compiled).insert(text, Arc::downgrade(&compiled));
        Ok(compiled)
    }
}

impl ServerTools {
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn get(&self, tool: &str) -> Option<&Arc<CachedSchema>> {
        match self.tools.get(tool) {
            Some(Entry::Usable(cached)) => Some(cached),
            _ => None,
        }
    }

    pub(crate) fn output(&self, tool: &str) -> Option<&OutputSchema> {
        self.outputs.get(tool).map(AsRef::as_ref)
    }

    /// Which tools of an older list are not in this one, at most so many.
    fn remember(&mut self, older: &Self, most: usize) {
        let names = older.names.iter().chain(&older.former);
        let gone = names.filter(|name| !self.tools.contains_key(*name)).take(most);
        self.former = gone.cloned().collect();
    }

    fn insert(&mut self, tool: &ToolDefinition, entry: Entry) {
        if let Some(schema) = &tool.output_schema {
            self.outputs.insert(tool.name.clone(), Arc::new(OutputSchema::new(schema.clone())));
        }
        if self.tools.insert(tool.name.clone(), entry).is_none() {
            self.names.push(tool.name.clone());
        }
    }
}

/// A thread that panicked with the lock left whole values behind: each change is one insertion.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
