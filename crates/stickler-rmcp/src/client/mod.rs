//! A client that knows what it may ask.

mod answers;
mod call;
mod capabilities;
mod checked;
mod config;
mod connection;
mod discovery;
mod http;
mod lines;
mod listener;
mod sieve;
mod validation;

use std::fmt;
use std::sync::Arc;

use stickler::rules::Code;
use stickler::{CacheStats, McpValidator, ValidationConfig};

use answers::Answers;
pub use call::ToolCallResult;
pub use checked::CheckedTransport;
pub use config::McpConfig;
use connection::Connection;
pub use validation::{DecidedBy, ToolValidation};

use crate::Error;

/// A client of one server, in either era, as a child process or at a URL.
///
/// With validation on, calls are checked before they are sent; a call that fails costs no round
/// trip, and its error says what to do. Errors that the server itself gives are enhanced with what
/// the tool's schema knows.
///
/// ```no_run
/// use serde_json::json;
/// use stickler_rmcp::{McpClient, McpConfig, ValidationConfig};
///
/// # async fn run() -> Result<(), stickler_rmcp::Error> {
/// let mut client = McpClient::new(McpConfig::new("files", "npx").args(["-y", "some-server"]))?;
/// client.enable_validation(ValidationConfig::default());
/// client.connect().await?;
/// let refused = client.call_tool("write_file", json!({ "pth": "a.txt" })).await.unwrap_err();
/// // [STK-107] … `pth` is not a known field; did you mean `path`?
/// assert_eq!(refused.suggestions(), ["path"]);
/// # Ok(())
/// # }
/// ```
pub struct McpClient {
    config: McpConfig,
    validator: Option<Arc<McpValidator>>,
    connection: Option<Connection>,
    answers: Answers,
}

impl McpClient {
    /// A client that is not connected yet. The error is for an address that is none.
    pub fn new(config: McpConfig) -> Result<Self, Error> {
        config.check()?;
        Ok(Self { config, validator: None, connection: None, answers: Answers::default() })
    }

    /// Checks calls from now on. Best before [`connect`](Self::connect), which then learns the
    /// tools.
    pub fn enable_validation(&mut self, config: ValidationConfig) {
        self.validator = Some(Arc::new(McpValidator::new(config)));
        if let Some(connection) = &self.connection {
            connection.tools_may_have_changed();
        }
    }

    /// Starts or reaches the server, agrees with it on a revision and learns its tools.
    ///
    /// The modern revision is tried first. A server that does not know it, or even exits at the
    /// question, is started again and greeted in the old way.
    pub async fn connect(&mut self) -> Result<(), Error> {
        self.close().await;
        self.answers.clear();
        let connection = Connection::open(&self.config).await?;
        let connection = self.connection.insert(connection);
        connection.watch_for_changes().await;
        let supported = self.supports_validation();
        tracing::info!(server = self.config.name, validates = supported, "connected");
        if self.validator.is_some() && self.has_capability("tools") {
            self.learn_tools().await?;
        }
        Ok(())
    }

    /// Ends the connection; a child process is told, and given a moment to end by itself.
    pub async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }

    /// Whether there is a connection that has not been closed by the server.
    pub fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open)
    }

    /// The name by which tools can be named as `server:tool`.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The revision that was agreed on.
    pub fn revision(&self) -> Option<String> {
        Some(self.connection.as_ref()?.info()?.protocol_version.to_string())
    }

    /// How many tools are known; `None` where validation is off.
    pub fn validation_stats(&self) -> Option<CacheStats> {
        self.validator.as_ref().map(|validator| validator.cache().stats())
    }

    /// What checks the calls; `None` where validation is off.
    pub fn validator(&self) -> Option<&McpValidator> {
        self.validator.as_deref()
    }

    fn connection(&self) -> Result<&Connection, Error> {
        self.connection.as_ref().ok_or_else(|| {
            let message = format!("not connected to `{}`: call `connect` first", self.config.name);
            Error::new(Code::NotConnected, message)
        })
    }

    /// The tool's own name, where it is named as `server:tool`.
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
