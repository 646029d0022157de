//! What the wrapper adds to the server's capabilities.

use rmcp::ServerHandler;
use rmcp::model::{JsonObject, ServerCapabilities};
use serde_json::Value;
use stickler::ToolValidationCapability;
use stickler::tool_validation::{EXPERIMENTAL, EXTENSION};

use super::Validated;

/// The era whose announcement is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announcement {
    /// `initialize`.
    Legacy,
    /// `server/discover`, which has extensions.
    Modern,
}

/// Whether a server validates calls of its own accord.
pub(super) fn validates(capabilities: &ServerCapabilities) -> bool {
    capabilities.experimental.as_ref().is_some_and(|these| these.contains_key(EXPERIMENTAL))
}

impl<H: ServerHandler> Validated<H> {
    /// The capability, where there are tools and somebody to check their calls.
    pub(super) fn capability(&self) -> Option<ToolValidationCapability> {
        let capability = ToolValidationCapability::new(self.settings.method.clone()?);
        Some(match &self.settings.checks {
            Some(checks) => capability.with_levels(checks.levels()),
            None => capability,
        })
    }

    pub(super) fn announce(&self, capabilities: &mut ServerCapabilities, which: Announcement) {
        if capabilities.tools.is_none() || validates(capabilities) {
            return;
        }
        let Some(capability) = self.capability() else { return };
        let Value::Object(capability) = capability.to_value() else { return };
        if which == Announcement::Modern {
            add(&mut capabilities.extensions, EXTENSION, capability.clone());
        }
        add(&mut capabilities.experimental, EXPERIMENTAL, capability);
    }
}

fn add(
    capabilities: &mut Option<std::collections::BTreeMap<String, JsonObject>>,
    name: &str,
    capability: JsonObject,
) {
    capabilities.get_or_insert_default().insert(name.to_owned(), capability);
}
