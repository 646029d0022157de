//! Cache of the tools of all servers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::server::{Entry, ServerTools, quarantine};
use super::shared::Shared;
use super::{CachedSchema, Freshness, SchemaStore, ToolDefinition, view};
use crate::config::{CompileSchemas, Formats, Limits};
use crate::error::McpSchemaError;
use crate::memory::MemoryBudget;

/// Tool schemas by server and tool. Can be shared between threads; a lock is held only to look up
/// or to replace, never while a schema is compiled or a call checked.
///
/// A list is learned as text. A schema is compiled when its tool is looked up for the first time, once
/// for all tools with the same schema, as far as [`Limits::compiled_bytes_per_server`] and
/// [`Limits::compiled_bytes`] allow.
#[derive(Debug, Default)]
pub struct ToolSchemaCache {
    compile: CompileSchemas,
    /// The lists by server.
    servers: RwLock<BTreeMap<String, Arc<ServerTools>>>,
    /// Number of changes of each server's tools, known or not.
    changes: RwLock<HashMap<String, u64>>,
    /// Content shared by all lists.
    shared: Arc<Shared>,
}

/// Statistics of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStats {
    /// Tools with a schema, except those known to be quarantined.
    pub tool_count: usize,
    /// Populated servers.
    pub servers: usize,
    /// Tools known to have an unusable schema. A schema is compiled when its tool is first looked up.
    pub quarantined: usize,
    /// Distinct schemas of the tools with a schema.
    pub distinct_schemas: usize,
    /// Distinct compiled schemas, including output schemas.
    pub compiled_schemas: usize,
    /// Estimated memory of the compiled schemas.
    pub compiled_bytes: usize,
    /// Number of compilations.
    pub compilations: u64,
}

/// Result of populating a tool list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// Tools with a schema, except quarantined ones.
    pub usable: usize,
    /// Tools without a schema, whose calls are not validated.
    pub without_schema: usize,
    /// Tools whose schema cannot be used, with the reason, as far as the text shows it: too large, too deep, not a
    /// schema. Errors that only compilation finds are reported when the tool is called, by
    /// [`ToolSchemaCache::compile_all`], or here with
    /// [`CompileSchemas::WhenListed`](crate::CompileSchemas::WhenListed).
    pub quarantined: Vec<McpSchemaError>,
    /// Tools over the limit, which are ignored.
    pub over_limit: usize,
    /// Entries without a name.
    pub nameless: usize,
}

/// Result of looking up a tool.
pub(crate) enum Lookup {
    /// Its calls can be validated.
    Usable(Arc<CachedSchema>),
    /// Its calls cannot be validated.
    Unchecked,
    /// Its schema cannot be used.
    Quarantined(McpSchemaError),
    /// The server does not list it; the listed tools.
    Unknown(Arc<ServerTools>),
}

impl ToolSchemaCache {
    /// Creates an empty cache with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty cache.
    pub fn with_limits(limits: Limits) -> Self {
        Self::with_formats(limits, Formats::default())
    }

    /// Creates an empty cache of schemas that apply `format` in a given way.
    pub fn with_formats(limits: Limits, formats: Formats) -> Self {
        Self { shared: Arc::new(Shared::new(limits, formats)), ..Self::default() }
    }

    /// Creates an empty cache that shares its schemas with the other caches of a store.
    pub fn in_store(store: &SchemaStore, limits: Limits, formats: Formats) -> Self {
        Self { shared: store.shared(limits, formats), ..Self::default() }
    }

    /// Sets when schemas are compiled.
    #[must_use]
    pub fn compiling(mut self, when: CompileSchemas) -> Self {
        self.compile = when;
        self
    }

    /// Replaces the tool list of a server.
    pub fn populate(&self, server: &str, tools: &[ToolDefinition]) -> Discovery {
        self.populate_with(server, tools, Freshness::default())
    }

    /// Like [`populate`](Self::populate), with the freshness of the list.
    pub fn populate_with(
        &self,
        server: &str,
        tools: &[ToolDefinition],
        freshness: Freshness,
    ) -> Discovery {
        let limits = &self.shared.limits;
        let mut learned = ServerTools::new(&self.shared, freshness);
        let mut discovery = Discovery::default();
        for tool in tools {
            if learned.names().len() >= limits.tools_per_server {
                discovery.over_limit += 1;
                learned.incomplete = true;
                continue;
            }
            match learned.insert(tool) {
                Entry::Listed(_) => discovery.usable += 1,
                Entry::WithoutSchema => discovery.without_schema += 1,
                Entry::Quarantined(error) => discovery.quarantined.push(error.clone()),
            }
        }
        learned.charge_known();
        let mut servers = write(&self.servers);
        if let Some(known) = servers.get(server) {
            learned.remember(known, limits.tools_per_server);
        }
        learned.charge_names();
        servers.insert(server.to_owned(), Arc::new(learned));
        drop(servers);
        self.shared.remove_unused();
        if self.compile == CompileSchemas::WhenListed {
            let known = discovery.quarantined.len();
            discovery.quarantined = self.compile_all(server);
            let found = discovery.quarantined.len().saturating_sub(known);
            discovery.usable = discovery.usable.saturating_sub(found);
        }
        discovery
    }

    /// Adds one tool to the list of a server and compiles its schema.
    pub fn register(&self, server: &str, tool: &ToolDefinition) -> Result<(), McpSchemaError> {
        let mut servers = write(&self.servers);
        let known = servers.get(server).map(|tools| (**tools).clone());
        let mut learned =
            known.unwrap_or_else(|| ServerTools::new(&self.shared, Freshness::default()));
        learned.insert(tool);
        let learned = Arc::new(learned);
        servers.insert(server.to_owned(), Arc::clone(&learned));
        drop(servers);
        match learned.entry(&tool.name).map(|entry| rejection(&learned, &tool.name, entry)) {
            Some(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Compiles the schemas of a server's tools and returns the unusable ones in list order, for callers that report
    /// them before a tool is called.
    pub fn compile_all(&self, server: &str) -> Vec<McpSchemaError> {
        let Some(tools) = self.server(server) else {
            return Vec::new();
        };
        tools.entries().filter_map(|(name, entry)| rejection(&tools, name, entry)).collect()
    }

    /// Returns the freshness of a server's list; `None` if the server was not populated.
    pub fn freshness(&self, server: &str) -> Option<Freshness> {
        read(&self.servers).get(server).map(|tools| tools.freshness)
    }

    /// Whether the list of a server is known but may be outdated.
    pub fn is_stale(&self, server: &str, now: Duration) -> bool {
        self.freshness(server).is_some_and(|freshness| freshness.is_stale(now))
    }

    /// Records that the tools of a server have changed, in all of its views: the lists are kept but stale.
    pub fn mark_changed(&self, server: &str) {
        *write(&self.changes).entry(server.to_owned()).or_default() += 1;
        let servers = read(&self.servers);
        let names: Vec<String> = with_views(&servers, server).map(str::to_owned).collect();
        drop(servers);
        for name in &names {
            self.mark_stale(name);
        }
    }

    /// Returns the number of changes of a server's tools, including those of the servers it is a view of.
    pub fn changes(&self, server: &str) -> u64 {
        let changes = read(&self.changes);
        view::with_wider(server).filter_map(|name| changes.get(name)).sum()
    }

    /// Marks the list of a server as stale.
    pub fn mark_stale(&self, server: &str) {
        let mut servers = write(&self.servers);
        if let Some(tools) = servers.get_mut(server).filter(|tools| !tools.freshness.changed) {
            *tools = Arc::new(tools.stale());
        }
    }

    /// Returns the budget that lists count towards, together with whatever else the process keeps for its peers.
    pub fn memory(&self) -> &MemoryBudget {
        &self.shared.memory.process
    }

    /// Whether the lists use more memory than they may, so that some should be removed.
    pub fn is_over_memory(&self) -> bool {
        self.shared.memory.lists.is_exceeded()
    }

    /// Whether a server has tools with arguments that HTTP headers repeat.
    #[doc(hidden)]
    pub fn has_param_headers(&self, server: &str) -> bool {
        read(&self.servers).get(server).is_some_and(|tools| tools.has_param_headers)
    }

    /// Whether the server, or a view of it, was populated.
    pub fn is_populated(&self, server: &str) -> bool {
        with_views(&read(&self.servers), server).next().is_some()
    }

    /// Returns the schema of a tool if it can be used.
    pub fn get(&self, server: &str, tool: &str) -> Option<Arc<CachedSchema>> {
        self.server(server)?.get(tool).cloned()
    }

    /// Whether a schema of a tool has to be compiled before calls of the tool can be checked.
    pub fn needs_compilation(&self, server: &str, tool: &str) -> bool {
        self.server(server).is_some_and(|tools| tools.needs_compilation(tool))
    }

    /// Compiles the schemas of a tool, unless that was done before. This can take long.
    pub fn compile(&self, server: &str, tool: &str) {
        if let Some(tools) = self.server(server) {
            let _ = (tools.get(tool), tools.output(tool));
        }
    }

    /// Returns the names of a server's tools in list order.
    pub fn tool_names(&self, server: &str) -> Vec<String> {
        self.server(server).map(|tools| tools.names().to_vec()).unwrap_or_default()
    }

    /// Whether a server listed a tool earlier and no longer does.
    pub fn was_listed(&self, server: &str, tool: &str) -> bool {
        self.server(server).is_some_and(|tools| tools.was_listed(tool))
    }

    /// Returns the tools of a server that are known to be quarantined. A schema that was not compiled yet is not
    /// included; see [`compile_all`](Self::compile_all).
    pub fn quarantined(&self, server: &str) -> Vec<McpSchemaError> {
        let Some(tools) = self.server(server) else {
            return Vec::new();
        };
        let quarantined = tools.entries().filter_map(|(name, entry)| match entry {
            Entry::Listed(listed) => Some(quarantine(name, listed.input.failure()?)),
            Entry::Quarantined(error) => Some(error.clone()),
            Entry::WithoutSchema => None,
        });
        quarantined.collect()
    }

    /// Removes a server and all of its views; returns whether it was known.
    pub fn remove_server(&self, server: &str) -> bool {
        write(&self.changes).retain(|name, _| !view::is_of(name, server));
        let mut servers = write(&self.servers);
        let names: Vec<String> = with_views(&servers, server).map(str::to_owned).collect();
        names.into_iter().filter_map(|name| servers.remove(&name)).count() > 0
    }

    /// Removes everything.
    pub fn clear(&self) {
        write(&self.servers).clear();
        write(&self.changes).clear();
        self.shared.clear();
    }

    /// Returns statistics of the cache.
    pub fn stats(&self) -> CacheStats {
        let servers = read(&self.servers);
        let mut stats = CacheStats { servers: servers.len(), ..CacheStats::default() };
        let mut distinct = HashSet::new();
        for (_, entry) in servers.values().flat_map(|server| server.entries()) {
            match entry {
                Entry::Listed(listed) if listed.input.failure().is_none() => {
                    stats.tool_count += 1;
                    distinct.insert(Arc::as_ptr(&listed.input));
                }
                Entry::Listed(_) | Entry::Quarantined(_) => stats.quarantined += 1,
                Entry::WithoutSchema => {}
            }
        }
        stats.distinct_schemas = distinct.len();
        self.shared.count(&mut stats);
        stats
    }

    pub(crate) fn lookup(&self, server: &str, tool: &str) -> Lookup {
        let Some(tools) = self.server(server) else {
            return Lookup::Unchecked;
        };
        match tools.entry(tool) {
            Some(Entry::Listed(listed)) => match tools.cached(listed) {
                Ok(cached) => Lookup::Usable(Arc::clone(cached)),
                Err(rejection) => Lookup::Quarantined(quarantine(tool, &rejection)),
            },
            Some(Entry::WithoutSchema) => Lookup::Unchecked,
            Some(Entry::Quarantined(error)) => Lookup::Quarantined(error.clone()),
            None if tools.incomplete => Lookup::Unchecked,
            None => Lookup::Unknown(tools),
        }
    }

    pub(crate) fn server(&self, server: &str) -> Option<Arc<ServerTools>> {
        read(&self.servers).get(server).map(Arc::clone)
    }
}

/// Returns the reason why a tool cannot be validated, compiling its schema if needed.
fn rejection(tools: &ServerTools, name: &str, entry: &Entry) -> Option<McpSchemaError> {
    match entry {
        Entry::Listed(listed) => {
            tools.cached(listed).err().map(|rejection| quarantine(name, &rejection))
        }
        Entry::Quarantined(error) => Some(error.clone()),
        Entry::WithoutSchema => None,
    }
}

/// Returns the names of a server and of its views.
fn with_views<'s, T>(
    servers: &'s BTreeMap<String, T>,
    server: &'s str,
) -> impl Iterator<Item = &'s str> {
    let names = servers.range::<str, _>((Bound::Included(server), Bound::Unbounded));
    let names = names.map(|(name, _)| name.as_str());
    names
        .take_while(move |name| name.starts_with(server))
        .filter(move |name| view::is_of(name, server))
}

/// Ignores lock poisoning: every change is one insertion, so a panic leaves consistent values.
pub(super) fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
