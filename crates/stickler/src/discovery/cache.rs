//! The tools of all servers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::shared::Shared;
use super::{CachedSchema, Freshness, OutputSchema, ToolDefinition, view};
use crate::config::Limits;
use crate::error::McpSchemaError;

/// Tool schemas by server and tool. Can be shared between threads; a lock is held only to look up
/// or to replace, never while a schema is compiled or a call checked.
#[derive(Debug, Default)]
pub struct ToolSchemaCache {
    limits: Limits,
    /// Asked several times for each message, and mostly there is one.
    servers: RwLock<BTreeMap<String, Arc<ServerTools>>>,
    /// How often each server's tools have changed, whether they were known or not.
    changes: RwLock<HashMap<String, u64>>,
    /// One form of each tool, whoever lists it.
    shared: Shared,
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
    /// Entries of the list that name no tool.
    pub nameless: usize,
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
    has_mirrors: bool,
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
            learnt.insert(tool, entry, &self.shared);
        }
        let mut servers = write(&self.servers);
        if let Some(known) = servers.get(server) {
            learnt.remember(known, self.limits.tools_per_server);
        }
        servers.insert(server.to_owned(), Arc::new(learnt));
        drop(servers);
        self.shared.tidy();
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
        learnt.insert(tool, entry, &self.shared);
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
    pub fn was_listed(&self, server: &str, tool: &str) -> bool {
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
        for entry in servers.values().flat_map(|server| server.tools.values()) {
            match entry {
                Entry::Usable(_) => stats.tool_count += 1,
                Entry::Quarantined(_) => stats.quarantined += 1,
                Entry::WithoutSchema => {}
            }
        }
        stats.distinct_schemas = self.shared.distinct();
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
        let cached = match (tool.unreadable(), &tool.input_schema) {
            (Some(refusal), _) => Err(refusal.clone()),
            (None, None) => return Entry::WithoutSchema,
            (None, Some(schema)) => self.shared.tool(tool, schema, &self.limits),
        };
        match cached {
            Ok(cached) => Entry::Usable(cached),
            Err(refusal) => Entry::Quarantined(McpSchemaError {
                tool: tool.name.clone(),
                reason: refusal.to_string(),
            }),
        }
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

    /// The same list, which may have changed since.
    fn stale(&self) -> Self {
        let mut stale = self.clone();
        stale.freshness.changed = true;
        stale
    }

    fn insert(&mut self, tool: &ToolDefinition, entry: Entry, shared: &Shared) {
        if let Some(schema) = &tool.output_schema {
            self.outputs.insert(tool.name.clone(), shared.output(schema));
        }
        if let Entry::Usable(cached) = &entry {
            self.has_mirrors |= !cached.mirrors.is_empty();
        }
        if self.tools.insert(tool.name.clone(), entry).is_none() {
            self.names.push(tool.name.clone());
        }
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
