//! Connections to other MCP servers, whose tools are named as `server:tool`.
//!
//! A server is started or contacted when it is first used, and again if its connection is lost.
//! A call is validated by the server itself if it has announced `toolValidation`, and otherwise
//! against the schema of the tool, which is logged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler_rmcp::{
    Code, Error, McpClient, McpConfig, ToolCallResult, ToolValidation, ValidationConfig,
};
use tokio::sync::Mutex;

/// Time limit for a connection and for a validation. A call has the time limit of its server.
const RESPONSE_LIMIT: Duration = Duration::from_secs(30);

/// The servers that the scheduler may call, by name.
///
/// ```no_run
/// use stickler_reference::Servers;
/// use stickler_rmcp::McpConfig;
///
/// # async fn run() -> Result<(), String> {
/// let mail = McpConfig::new("mail", "npx").args(["-y", "some-mail-server"]);
/// let servers = Servers::new([("mail".to_owned(), mail)]);
/// if servers.has_capability("mail", "experimental.toolValidation").await? {
///     println!("`mail` validates calls itself");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Servers {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    config: McpConfig,
    client: Mutex<Option<Arc<McpClient>>>,
}

impl Servers {
    /// Creates the list. No server is started yet; of equal names, the last one counts.
    pub fn new(servers: impl IntoIterator<Item = (String, McpConfig)>) -> Self {
        let entry = |config| Entry { config, client: Mutex::default() };
        let entries = servers.into_iter().map(|(name, config)| (name, entry(config)));
        Self { entries: entries.collect() }
    }

    /// Returns the names of the servers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns whether a server has announced a capability, given as a dotted path such as
    /// `experimental.toolValidation`. Connects to the server first.
    pub async fn has_capability(&self, server: &str, path: &str) -> Result<bool, String> {
        Ok(self.client(server).await?.has_capability(path))
    }

    /// Validates a call of `server:tool` without making it.
    pub async fn validate(&self, tool: &str, arguments: &Value) -> Result<ToolValidation, String> {
        let (server, tool) = self.split(tool)?;
        let client = self.client(server).await?;
        let validation =
            tokio::time::timeout(RESPONSE_LIMIT, client.validate_tool(tool, arguments));
        match validation.await {
            Ok(validated) => validated.map_err(|error| format!("`{server}`: {error}")),
            Err(_) => Err(format!("`{server}` did not validate the call in time")),
        }
    }

    /// Calls `server:tool`.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolCallResult, Error> {
        let unreachable = |reason| {
            Error::from(stickler::McpError::Other { code: Code::CannotStart, message: reason })
        };
        let (server, tool) = self.split(tool).map_err(unreachable)?;
        let client = self.client(server).await.map_err(unreachable)?;
        client.call_tool(tool, arguments).await
    }

    /// Splits `server:tool`.
    fn split<'t>(&self, tool: &'t str) -> Result<(&'t str, &'t str), String> {
        tool.split_once(':').ok_or_else(|| {
            format!("`{tool}` names no server; use `server:tool`. Servers: {}", self.list())
        })
    }

    /// Returns a connected client.
    async fn client(&self, server: &str) -> Result<Arc<McpClient>, String> {
        let entry = self.entries.get(server).ok_or_else(|| self.unknown(server))?;
        let mut slot = entry.client.lock().await;
        if let Some(client) = slot.as_ref().filter(|client| client.is_connected()) {
            return Ok(Arc::clone(client));
        }
        let failed = |reason: String| format!("cannot connect to the server `{server}`: {reason}");
        let mut client =
            McpClient::new(entry.config.clone()).map_err(|error| failed(error.to_string()))?;
        client.enable_validation(ValidationConfig::default());
        match tokio::time::timeout(RESPONSE_LIMIT, client.connect()).await {
            Ok(connected) => connected.map_err(|error| failed(error.to_string()))?,
            Err(_) => return Err(failed("no response in time".to_owned())),
        }
        Ok(Arc::clone(slot.insert(Arc::new(client))))
    }

    fn unknown(&self, server: &str) -> String {
        let nearest = stickler::nearest_names(server, self.names());
        let meant = nearest.first().map(|name| format!("; did you mean `{name}`?"));
        let meant = meant.unwrap_or_default();
        format!("the server `{server}` is not configured{meant} Servers: {}", self.list())
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}
