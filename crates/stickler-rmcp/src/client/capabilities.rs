//! Queries about the capabilities that the server has announced.

use serde_json::Value;
use stickler::ToolValidationCapability;
use stickler::tool_validation::{EXPERIMENTAL, EXTENSION};

use super::McpClient;

impl McpClient {
    /// Returns the announced capabilities as JSON, or `null` without a connection.
    pub fn capabilities(&self) -> Value {
        let info = self.connection.as_ref().and_then(super::Connection::info);
        let capabilities = info.map(|info| serde_json::to_value(&info.capabilities));
        capabilities.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns whether the server has announced a capability, given as a dotted path such as
    /// `experimental.toolValidation` or `tools.listChanged`. A value of `false` counts as not
    /// announced.
    ///
    /// ```no_run
    /// # fn look(client: &stickler_rmcp::McpClient) {
    /// if client.has_capability("experimental.toolValidation") {
    ///     assert!(client.supports_validation());
    /// }
    /// # }
    /// ```
    pub fn has_capability(&self, path: &str) -> bool {
        let capabilities = self.capabilities();
        let found = path.split('.').try_fold(&capabilities, |parent, name| parent.get(name));
        found.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    }

    /// Returns whether the server has announced that it validates calls.
    pub fn supports_validation(&self) -> bool {
        self.validation_capability().is_some()
    }

    /// Returns the announced validation capability; `None` if the server does not validate calls.
    pub fn validation_capability(&self) -> Option<ToolValidationCapability> {
        let capabilities = self.capabilities();
        let announced = |group: &str, name: &str| {
            ToolValidationCapability::read(capabilities.get(group)?.get(name)?)
        };
        announced("experimental", EXPERIMENTAL).or_else(|| announced("extensions", EXTENSION))
    }
}
