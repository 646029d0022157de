//! MCP client that validates calls before it sends them.

mod call;
mod capabilities;
mod checked;
mod config;
mod connection;
mod discovery;
mod drop_malformed_tools;
mod http;
mod lines;
mod listener;
mod report_cache;
mod validation;

use std::fmt;
use std::sync::Arc;

use stickler::rules::Code;
use stickler::{CacheStats, McpValidator, ValidationConfig};

pub use call::ToolCallResult;
pub use checked::CheckedTransport;
pub use config::McpConfig;
use connection::Connection;
use report_cache::ValidationReportCache;
pub use validation::{DecidedBy, ToolValidation};

use crate::{Error, schema_store};

/// A client for one server of either era, as a child process or at a URL.
///
/// With validation enabled, calls are validated before they are sent; an invalid call costs no
/// round trip, and its error explains how to correct it. Errors from the server are enhanced with
/// details from the tool's schema.
///
/// ```no_run
/// use serde_json::json;
/// use stickler_rmcp::{McpClient, McpConfig, ValidationConfig};
///
/// # async fn run() -> Result<(), stickler_rmcp::Error> {
/// let mut client = McpClient::new(McpConfig::new("files", "npx").args(["-y", "some-server"]))?;
/// client.enable_validation(ValidationConfig::default());
/// client.connect().await?;
/// let rejected = client.call_tool("write_file", json!({ "pth": "a.txt" })).await.unwrap_err();
/// // [STK-107] … `pth` is not a known field; did you mean `path` (string, required)?
/// assert_eq!(rejected.suggestions(), ["path"]);
/// # Ok(())
/// # }
/// ```
pub struct McpClient {
    config: McpConfig,
    validator: Option<Arc<McpValidator>>,
    connection: Option<Connection>,
    report_cache: ValidationReportCache,
}

impl McpClient {
    /// Creates a client that is not connected yet. Fails if the URL or a header is invalid.
    pub fn new(config: McpConfig) -> Result<Self, Error> {
        config.check()?;
        Ok(Self {
            config,
            validator: None,
            connection: None,
            report_cache: ValidationReportCache::default(),
        })
    }

    /// Enables validation of calls. Best called before [`connect`](Self::connect), which then
    /// requests the tool list.
    pub fn enable_validation(&mut self, config: ValidationConfig) {
        self.validator = Some(schema_store::validator(config));
        if let Some(connection) = &self.connection {
            connection.tools_may_have_changed();
        }
    }

    /// Starts or connects to the server, negotiates a protocol revision and requests the tool list.
    ///
    /// The modern revision is tried first. If a server rejects it, or exits when it receives the
    /// request, the client reconnects with the legacy `initialize` handshake.
    pub async fn connect(&mut self) -> Result<(), Error> {
        self.close().await;
        self.report_cache.clear();
        let connection = Connection::open(&self.config).await?;
        let connection = self.connection.insert(connection);
        connection.watch_for_changes().await;
        let supported = self.supports_validation();
        tracing::info!(server = self.config.name, validates = supported, "connected");
        if self.validator.is_some() && self.has_capability("tools") {
            self.refresh_tools().await?;
        }
        Ok(())
    }

    /// Closes the connection. A child process gets a few seconds to exit before it is killed.
    pub async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }

    /// Returns whether there is an open connection.
    pub fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open)
    }

    /// Returns the server's name, which may prefix tool names as in `server:tool`.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns the negotiated protocol revision.
    pub fn revision(&self) -> Option<String> {
        Some(self.connection.as_ref()?.info()?.protocol_version.to_string())
    }

    /// Returns statistics about the cached tools; `None` if validation is disabled.
    pub fn validation_stats(&self) -> Option<CacheStats> {
        self.validator.as_ref().map(|validator| validator.cache().stats())
    }

    /// Returns the validator; `None` if validation is disabled.
    pub fn validator(&self) -> Option<&McpValidator> {
        self.validator.as_deref()
    }

    fn connection(&self) -> Result<&Connection, Error> {
        self.connection.as_ref().ok_or_else(|| {
            let message = format!("not connected to `{}`: call `connect` first", self.config.name);
            Error::new(Code::NotConnected, message)
        })
    }

    /// Removes the `server:` prefix of a tool name, if there is one.
    fn tool_name<'t>(&self, name: &'t str) -> &'t str {
        let rest = name.strip_prefix(&self.config.name).and_then(|rest| rest.strip_prefix(':'));
        rest.unwrap_or(name)
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("config", &self.config)
            .field("is_connected", &self.is_connected())
            .field("validation", &self.validation_stats())
            .finish_non_exhaustive()
    }
}
