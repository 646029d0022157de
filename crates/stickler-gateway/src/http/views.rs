//! What a server is to different clients: it may list other tools to those who can do other things, or who
//! are somebody else.

use std::sync::{Arc, Mutex, PoisonError};

use stickler::{McpValidator, view_of};

use super::recent::Recent;

/// What the tool cache knows for some clients and nobody else: forgotten when none of them is there any more,
/// and those who remember it have forgotten it.
pub(super) struct View {
    pub(super) name: Arc<str>,
    validator: Arc<McpValidator>,
    /// What it is a view of, which must not be forgotten before.
    _wider: Option<Arc<View>>,
    is_kept: bool,
}

impl View {
    /// The server itself, which is known for as long as there is a gateway.
    pub(super) fn of_server(name: &Arc<str>, validator: &Arc<McpValidator>) -> Arc<Self> {
        let (name, validator) = (Arc::clone(name), Arc::clone(validator));
        Arc::new(Self { name, validator, _wider: None, is_kept: true })
    }

    /// A narrower one, by a number.
    pub(super) fn narrow(self: &Arc<Self>, number: u64) -> Arc<Self> {
        self.named(view_of(&self.name, number).into())
    }

    fn named(self: &Arc<Self>, name: Arc<str>) -> Arc<Self> {
        let (validator, wider) = (Arc::clone(&self.validator), Some(Arc::clone(self)));
        Arc::new(Self { name, validator, _wider: wider, is_kept: false })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if !self.is_kept {
            self.validator.cache().remove_server(&self.name);
        }
    }
}

/// Clients differ in few ways: so many of these are remembered.
pub(super) const VIEWS: usize = 64;

/// The views that are remembered, by their last use. Whoever comes with one that was forgotten has his list
/// fetched again.
pub(super) struct Views {
    most: usize,
    views: Mutex<Recent<Arc<str>, Arc<View>>>,
}

impl Views {
    pub(super) fn new(most: usize) -> Self {
        Self { most, views: Mutex::default() }
    }

    /// A view of that one; 0 is the same.
    pub(super) fn get(&self, wider: &Arc<View>, number: u64) -> Arc<View> {
        if number == 0 {
            return Arc::clone(wider);
        }
        let name: Arc<str> = view_of(&wider.name, number).into();
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = views.get(&name) {
            return Arc::clone(known);
        }
        let view = wider.named(Arc::clone(&name));
        views.insert(name, Arc::clone(&view));
        let oldest = if views.len() > self.most { views.pop_oldest() } else { None };
        drop(views);
        // Forgetting takes longer than finding, and nobody waits for it.
        drop(oldest);
        view
    }
}

#[cfg(test)]
mod tests {
    use super::{View, Views};
    use std::sync::Arc;
    use stickler::{McpValidator, ToolDefinition, ValidationConfig};

    #[test]
    fn what_nobody_has_or_remembers_is_forgotten() {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let known = || validator.cache().stats().servers;
        let learn =
            |view: &View| validator.cache().populate(&view.name, &[ToolDefinition::new("x")]);
        let server = View::of_server(&"files".into(), &validator);
        let views = Views::new(2);
        assert_eq!(views.get(&server, 0).name, server.name);
        // Those that are in use are learnt for after they have been forgotten.
        let used: Vec<Arc<View>> = (1..=9).map(|number| views.get(&server, number)).collect();
        for view in &used {
            learn(view);
        }
        assert_eq!(known(), 9);
        assert!(Arc::ptr_eq(&views.get(&server, 9), &used[8]));
        drop(used);
        assert_eq!(known(), 2, "those that are remembered");
        learn(&server);
        let session = views.get(&server, 9).narrow(1);
        learn(&session);
        views.get(&server, 10);
        views.get(&server, 11);
        assert_eq!(known(), 3, "a view is known for as long as one of it is");
        drop((session, views, server));
        assert_eq!(known(), 1, "the server itself");
    }
}
