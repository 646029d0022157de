//! Tool lists per client identity and capabilities: a server may list different tools to different clients.

mod lru;
pub(crate) mod session_cache;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stickler::{McpValidator, view_of};
use tokio::time::Instant;

use crate::tool_views::lru::Lru;

/// A named partition of the tool cache. Its cached tools are removed when the last reference is dropped.
pub(crate) struct ToolView {
    pub(crate) name: Arc<str>,
    validator: Arc<McpValidator>,
    /// The view that this one narrows, which must outlive it.
    _wider: Option<Arc<ToolView>>,
    is_permanent: bool,
    pub(crate) listing: Listing,
}

/// Coordinates the exchanges that need the tool list of a view, where each has a connection of its own.
#[derive(Default)]
pub(crate) struct Listing {
    /// Held while a list that is not known is fetched, so that calls do not fetch it at the same time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    paused_until: Mutex<Option<Instant>>,
}

impl Listing {
    /// Fetches no list for a while, after the server has not listed its tools.
    pub(crate) fn pause(&self, duration: Duration) {
        *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) =
            Instant::now().checked_add(duration);
    }

    pub(crate) fn is_paused(&self) -> bool {
        let until = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }
}

impl ToolView {
    /// Returns the view of the server itself, which is never removed.
    pub(crate) fn of_server(name: &Arc<str>, validator: &Arc<McpValidator>) -> Arc<Self> {
        let (name, validator) = (Arc::clone(name), Arc::clone(validator));
        let listing = Listing::default();
        Arc::new(Self { name, validator, _wider: None, is_permanent: true, listing })
    }

    /// Creates a narrower view, identified by a number.
    pub(crate) fn narrow(self: &Arc<Self>, number: u64) -> Arc<Self> {
        self.named(view_of(&self.name, number).into())
    }

    fn named(self: &Arc<Self>, name: Arc<str>) -> Arc<Self> {
        let (validator, wider) = (Arc::clone(&self.validator), Some(Arc::clone(self)));
        let listing = Listing::default();
        Arc::new(Self { name, validator, _wider: wider, is_permanent: false, listing })
    }
}

impl Drop for ToolView {
    fn drop(&mut self) {
        if !self.is_permanent {
            self.validator.cache().remove_server(&self.name);
        }
    }
}

/// Maximum number of views by capabilities; clients differ in few of them.
pub(crate) const MAX_TOOL_VIEWS: usize = 64;

/// Maximum number of views that one new view evicts. More are evicted only if lists outside of the views need the memory.
const MAX_EVICTIONS: usize = 16;

/// An LRU cache of views. The tool list of an evicted view is fetched again when it is needed.
pub(crate) struct ToolViews {
    capacity: usize,
    views: Mutex<Lru<Arc<str>, Arc<ToolView>>>,
}

impl ToolViews {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, views: Mutex::default() }
    }

    /// Returns the view of `wider` with that number, which is `wider` itself for 0.
    pub(crate) fn get(&self, wider: &Arc<ToolView>, number: u64) -> Arc<ToolView> {
        if number == 0 {
            return Arc::clone(wider);
        }
        let name: Arc<str> = view_of(&wider.name, number).into();
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = views.get(&name) {
            return Arc::clone(cached);
        }
        let view = wider.named(Arc::clone(&name));
        views.insert(name, Arc::clone(&view));
        drop(views);
        self.evict(&view);
        view
    }

    /// Evicts views beyond the capacity, and views whose lists need more memory than lists may use.
    fn evict(&self, newest: &ToolView) {
        for _ in 0..MAX_EVICTIONS {
            let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
            let is_over_memory = views.len() > 1 && newest.validator.cache().is_over_memory();
            let is_full = is_over_memory || views.len() > self.capacity;
            let evicted = if is_full { views.pop_lru() } else { None };
            drop(views);
            // Dropped outside of the lock: removing the cached tools is slower than a lookup.
            if evicted.is_none() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ToolView, ToolViews};
    use std::sync::Arc;
    use stickler::{McpValidator, MemoryBudget, SchemaStore, ToolDefinition, ValidationConfig};

    #[test]
    fn tools_of_unreferenced_views_are_removed() {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let cached_servers = || validator.cache().stats().servers;
        let learn =
            |view: &ToolView| validator.cache().populate(&view.name, &[ToolDefinition::new("x")]);
        let server = ToolView::of_server(&"files".into(), &validator);
        let views = ToolViews::new(2);
        assert_eq!(views.get(&server, 0).name, server.name);
        // Tools are cached even for views that were evicted but are still in use.
        let used: Vec<Arc<ToolView>> = (1..=9).map(|number| views.get(&server, number)).collect();
        for view in &used {
            learn(view);
        }
        assert_eq!(cached_servers(), 9);
        assert!(Arc::ptr_eq(&views.get(&server, 9), &used[8]));
        drop(used);
        assert_eq!(cached_servers(), 2, "only cached views are left");
        learn(&server);
        let session = views.get(&server, 9).narrow(1);
        learn(&session);
        views.get(&server, 10);
        views.get(&server, 11);
        assert_eq!(cached_servers(), 3, "a view stays as long as a narrower one");
        drop((session, views, server));
        assert_eq!(cached_servers(), 1, "the view of the server stays");
    }

    #[test]
    fn least_recently_used_views_are_evicted_when_the_lists_need_too_much_memory() {
        let memory = MemoryBudget::new(2 << 20);
        let store = SchemaStore::with_memory(&memory);
        let validator = McpValidator::new(ValidationConfig::default()).with_schema_store(&store);
        let validator = Arc::new(validator);
        let server = ToolView::of_server(&"files".into(), &validator);
        let views = ToolViews::new(10_000);
        let learn = |number: u64, text: &str| {
            let schema = serde_json::json!({ "description": text.repeat(100 << 10) });
            let view = views.get(&server, number);
            let tool = ToolDefinition::new("x").with_input_schema(schema);
            validator.cache().populate(&view.name, &[tool]);
        };
        for number in 1..=100 {
            learn(number, "a");
        }
        assert_eq!(validator.cache().stats().servers, 100, "equal lists are shared");
        for number in 101..=300 {
            learn(
                number,
                char::from(u8::try_from(number - 100).unwrap_or(0) + 32).encode_utf8(&mut [0; 4]),
            );
            assert!(memory.used() < 2 << 20, "{}", memory.used());
        }
        assert!(validator.cache().stats().servers < 20);
        drop(views);
        assert!(memory.used() < 100 << 10, "the memory is released: {}", memory.used());
    }
}
