//! Announces the validation capability in addition to the handler's capabilities.

use rmcp::model::{JsonObject, ServerCapabilities};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use stickler::ToolValidationCapability;
use stickler::tool_validation::{EXPERIMENTAL, EXTENSION};

use super::Validated;

/// The response in which the capability is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announcement {
    /// `initialize`.
    Legacy,
    /// `server/discover`, which has extensions.
    Modern,
}

/// Returns whether the handler itself announces that it validates calls.
pub(super) fn validates(capabilities: &ServerCapabilities) -> bool {
    capabilities.experimental.as_ref().is_some_and(|these| these.contains_key(EXPERIMENTAL))
}

impl<H: ServerHandler> Validated<H> {
    /// Returns the capability; `None` if there is no validation tool.
    fn capability(
        &self,
        context: Option<&RequestContext<RoleServer>>,
    ) -> Option<ToolValidationCapability> {
        let name = match context {
            Some(context) => self.announced_tool(context),
            None => self.cached_validation_tool_name(),
        };
        let capability = ToolValidationCapability::new(name?);
        Some(match &self.settings.checks {
            Some(checks) => capability.with_levels(checks.levels()),
            None => capability,
        })
    }

    pub(super) fn announce(
        &self,
        capabilities: &mut ServerCapabilities,
        which: Announcement,
        context: Option<&RequestContext<RoleServer>>,
    ) {
        if capabilities.tools.is_none() || validates(capabilities) {
            return;
        }
        let Some(capability) = self.capability(context) else { return };
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
