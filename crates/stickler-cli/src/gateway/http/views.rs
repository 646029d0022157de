//! What a server is to different clients: it may list other tools to those who can do other things, or who
//! are somebody else.

use std::sync::{Arc, Mutex, PoisonError};

use stickler::{McpValidator, view_of};

use super::recent::Recent;

/// So many views of one server are remembered, by their last use. Clients differ in few ways; whoever makes
/// up more than these has his list fetched again.
const MOST: usize = 64;

/// The views of one server.
#[derive(Debug, Default)]
pub(super) struct Views(Mutex<Recent<Arc<str>, ()>>);

impl Views {
    /// The name that the tool cache knows a view by. 0 is the server itself.
    pub(super) fn get(&self, validator: &McpValidator, server: &Arc<str>, view: u64) -> Arc<str> {
        if view == 0 {
            return Arc::clone(server);
        }
        let name: Arc<str> = view_of(server, view).into();
        let mut views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if views.get(&name).is_some() {
            return name;
        }
        views.insert(Arc::clone(&name), ());
        if views.len() > MOST
            && let Some((oldest, ())) = views.pop_oldest()
        {
            validator.cache().remove_server(&oldest);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Views};
    use std::sync::Arc;
    use stickler::{McpValidator, ToolDefinition, ValidationConfig};

    #[test]
    fn memory_is_bounded() {
        let validator = McpValidator::new(ValidationConfig::default());
        let views = Views::default();
        let server: Arc<str> = "files".into();
        assert_eq!(views.get(&validator, &server, 0), server);
        for view in 0..MOST as u64 * 3 {
            let name = views.get(&validator, &server, view);
            assert_eq!(views.get(&validator, &server, view), name);
            validator.cache().populate(&name, &[ToolDefinition::new("x")]);
        }
        assert_eq!(validator.cache().stats().servers, MOST + 1, "and the server itself");
    }
}
