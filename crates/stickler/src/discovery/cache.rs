//! The tools of all servers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::server::{Entry, ServerTools, quarantine};
use super::shared::Shared;
use super::{CachedSchema, Freshness, ToolDefinition, view};
use crate::config::{CompileSchemas, Limits};
use crate::error::McpSchemaError;

/// Tool schemas by server and tool. Can be shared between threads; a lock is held only to look up
/// or to replace, never while a schema is compiled or a call checked.
///
/// A list is learnt as text. A schema is compiled when its tool is looked up for the first time, once
/// for all tools with the same schema, as far as [`Limits::compiled_bytes_per_server`] and
/// [`Limits::compiled_bytes`] allow.
#[derive(Debug, Default)]
pub struct ToolSchemaCache {
    compile: CompileSchemas,
    /// Asked several times for each message, and mostly there is one.
    servers: RwLock<BTreeMap<String, Arc<ServerTools>>>,
    /// How often each server's tools have changed, whether they were known or not.
    changes: RwLock<HashMap<String, u64>>,
    /// One form of each tool, in all lists.
    shared: Arc<Shared>,
}

/// How many tools are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStats {
    /// Tools with a schema, without those that are known to be in quarantine.
    pub tool_count: usize,
    /// Servers that were populated.
    pub servers: usize,
    /// Tools whose schema cannot be used, as far as that is known: a schema is compiled when its tool
    /// is first looked up.
    pub quarantined: usize,
    /// Distinct schemas of the tools with a schema.
    pub distinct_schemas: usize,
    /// Distinct schemas that are compiled, those of results included.
    pub compiled_schemas: usize,
    /// Estimated memory of the compiled schemas.
    pub compiled_bytes: usize,
    /// How often a schema was compiled.
    pub compilations: u64,
}

/// What came of learning a tool list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// Tools with a schema, without those in quarantine.
    pub usable: usize,
    /// Tools that have no schema: their calls pass.
    pub without_schema: usize,
    /// Tools whose schema cannot be used, with the reason, as far as the text shows that: too large,
    /// too deep, not a schema. What only compiling shows is reported when the tool is called, by
    /// [`ToolSchemaCache::compile_all`], or here with
    /// [`CompileSchemas::WhenListed`](crate::CompileSchemas::WhenListed).
    pub quarantined: Vec<McpSchemaError>,
    /// Tools past the limit, of which nothing was learnt.
    pub over_limit: usize,
    /// Entries of the list that name no tool.
    pub nameless: usize,
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
        Self { shared: Arc::new(Shared::new(limits)), ..Self::default() }
    }

    /// Sets when schemas are compiled.
    #[must_use]
    pub fn compiling(mut self, when: CompileSchemas) -> Self {
        self.compile = when;
        self
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
        let limits = &self.shared.limits;
        let mut learnt = ServerTools::new(&self.shared, freshness);
        let mut discovery = Discovery::default();
        for tool in tools {
            if learnt.names().len() >= limits.tools_per_server {
                discovery.over_limit += 1;
                learnt.incomplete = true;
                continue;
            }
            match learnt.insert(tool) {
                Entry::Listed(_) => discovery.usable += 1,
                Entry::WithoutSchema => discovery.without_schema += 1,
                Entry::Quarantined(error) => discovery.quarantined.push(error.clone()),
            }
        }
        learnt.charge_known();
        let mut servers = write(&self.servers);
        if let Some(known) = servers.get(server) {
            learnt.remember(known, limits.tools_per_server);
        }
        servers.insert(server.to_owned(), Arc::new(learnt));
        drop(servers);
        self.shared.tidy();
        if self.compile == CompileSchemas::WhenListed {
            let known = discovery.quarantined.len();
            discovery.quarantined = self.compile_all(server);
            let found = discovery.quarantined.len().saturating_sub(known);
            discovery.usable = discovery.usable.saturating_sub(found);
        }
        discovery
    }

    /// Learns one tool, beside what is known of that server, and compiles its schema.
    pub fn register(&self, server: &str, tool: &ToolDefinition) -> Result<(), McpSchemaError> {
        let mut servers = write(&self.servers);
        let known = servers.get(server).map(|tools| (**tools).clone());
        let mut learnt =
            known.unwrap_or_else(|| ServerTools::new(&self.shared, Freshness::default()));
        learnt.insert(tool);
        let learnt = Arc::new(learnt);
        servers.insert(server.to_owned(), Arc::clone(&learnt));
        drop(servers);
        match learnt.entry(&tool.name).map(|entry| refusal(&learnt, &tool.name, entry)) {
            Some(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Compiles the schemas of a server's tools and gives those that cannot be used, in the order of
    /// the list. For callers that report them before a tool is called.
    pub fn compile_all(&self, server: &str) -> Vec<McpSchemaError> {
        let Some(tools) = self.server(server) else {
            return Vec::new();
        };
        tools.entries().filter_map(|(name, entry)| refusal(&tools, name, entry)).collect()
    }

    /// How far what is known of a server can be relied on; `None` when nothing is known.
    pub fn freshness(&self, server: &str) -> Option<Freshness> {
        read(&self.servers).get(server).map(|tools| tools.freshness)
    }

    /// Whether a server's tools are known, but may have changed since.
    pub fn is_stale(&self, server: &str, now: Duration) -> bool {
        self.freshness(server).is_some_and(|freshness| freshness.is_stale(now))
    }

    /// Notes that a server's tools have changed, in all views of it: what is known stays, but is stale.
    pub fn mark_changed(&self, server: &str) {
        *write(&self.changes).entry(server.to_owned()).or_default() += 1;
        let servers = read(&self.servers);
        let names: Vec<String> = with_views(&servers, server).map(str::to_owned).collect();
        drop(servers);
        for name in &names {
            self.mark_stale(name);
        }
    }

    /// How often a server's tools have changed, those of the servers it is a view of included.
    pub fn changes(&self, server: &str) -> u64 {
        let changes = read(&self.changes);
        view::with_wider(server).filter_map(|name| changes.get(name)).sum()
    }

    /// Notes that what is known of a server's tools cannot be relied on.
    pub fn mark_stale(&self, server: &str) {
        let mut servers = write(&self.servers);
        if let Some(tools) = servers.get_mut(server).filter(|tools| !tools.freshness.changed) {
            *tools = Arc::new(tools.stale());
        }
    }

    /// Whether a server has tools some of whose arguments headers repeat over HTTP.
    #[doc(hidden)]
    pub fn has_mirrors(&self, server: &str) -> bool {
        read(&self.servers).get(server).is_some_and(|tools| tools.has_mirrors)
    }

    /// Whether the tools of a server are known, in some view of it.
    pub fn knows(&self, server: &str) -> bool {
        with_views(&read(&self.servers), server).next().is_some()
    }

    /// The schema of a tool, when there is one that can be used.
    pub fn get(&self, server: &str, tool: &str) -> Option<Arc<CachedSchema>> {
        self.server(server)?.get(tool).cloned()
    }

    /// The names of a server's tools, in the order they were learnt.
    pub fn tool_names(&self, server: &str) -> Vec<String> {
        self.server(server).map(|tools| tools.names().to_vec()).unwrap_or_default()
    }

    /// Whether a server has listed a tool before and lists it no more.
    pub fn was_listed(&self, server: &str, tool: &str) -> bool {
        self.server(server).is_some_and(|tools| tools.was_listed(tool))
    }

    /// The tools of a server that are known to be in quarantine: one whose schema was not compiled yet
    /// is not. See [`compile_all`](Self::compile_all).
    pub fn quarantined(&self, server: &str) -> Vec<McpSchemaError> {
        let Some(tools) = self.server(server) else {
            return Vec::new();
        };
        let refused = tools.entries().filter_map(|(name, entry)| match entry {
            Entry::Listed(listed) => Some(quarantine(name, listed.input.failure()?)),
            Entry::Quarantined(error) => Some(error.clone()),
            Entry::WithoutSchema => None,
        });
        refused.collect()
    }

    /// Forgets a server and all views of it; false when it was not known.
    pub fn remove_server(&self, server: &str) -> bool {
        write(&self.changes).retain(|name, _| !view::is_of(name, server));
        let mut servers = write(&self.servers);
        let names: Vec<String> = with_views(&servers, server).map(str::to_owned).collect();
        names.into_iter().filter_map(|name| servers.remove(&name)).count() > 0
    }

    /// Forgets everything.
    pub fn clear(&self) {
        write(&self.servers).clear();
        write(&self.changes).clear();
        self.shared.clear();
    }

    /// How many tools are known.
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
                Err(refusal) => Lookup::Quarantined(quarantine(tool, &refusal)),
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

/// Why a tool cannot be checked, found out now if need be.
fn refusal(tools: &ServerTools, name: &str, entry: &Entry) -> Option<McpSchemaError> {
    match entry {
        Entry::Listed(listed) => {
            tools.cached(listed).err().map(|refusal| quarantine(name, &refusal))
        }
        Entry::Quarantined(error) => Some(error.clone()),
        Entry::WithoutSchema => None,
    }
}

/// The names of a server and of its views, as far as they are known.
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

/// A thread that panicked with the lock left whole values behind: each change is one insertion.
pub(super) fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
