//! Sends calls from the page to the servers of a configuration file.

use std::time::Duration;

use serde_json::{Value, json};
use stickler_rmcp::{McpClient, McpConfig, ValidationConfig};
use stickler_transport::Server;
use stickler_ui::{CallSender, Sent};

use crate::config::Configured;

/// Maximum time to wait for a response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The servers that the user has configured. Each call starts or connects to its server anew.
pub(super) struct ConfiguredServers(Vec<Configured>);

impl ConfiguredServers {
    pub(super) fn new(servers: Vec<Configured>) -> Self {
        Self(servers)
    }
}

impl CallSender for ConfiguredServers {
    fn servers(&self) -> Vec<String> {
        self.0.iter().map(|one| one.name.clone()).collect()
    }

    fn call(&self, server: String, tool: String, arguments: Value) -> Sent<'_> {
        let configured = self.0.iter().find(|one| one.name == server);
        Box::pin(async move {
            let Some(configured) = configured else {
                return Err(format!("There is no server `{server}`."));
            };
            let mut client =
                McpClient::new(connection(configured)).map_err(|error| error.to_string())?;
            // The page has shown what is wrong with the call; the server is to answer it all the same.
            let mut validation = ValidationConfig::default();
            validation.pre_validate = false;
            client.enable_validation(validation);
            client.connect().await.map_err(|error| error.to_string())?;
            let outcome = client.call_tool(&tool, arguments).await;
            client.close().await;
            let result = outcome.map_err(|error| error.to_string())?;
            Ok(json!({ "content": result.content, "structuredContent": result.structured_content }))
        })
    }
}

fn connection(configured: &Configured) -> McpConfig {
    let name = &configured.name;
    let config = match &configured.server {
        Server::Url(url, headers) => {
            let config = McpConfig::url(name, url.to_string());
            let headers =
                headers.iter().filter_map(|(key, value)| Some((key, value.to_str().ok()?)));
            headers.fold(config, |config, (key, value)| config.header(key.as_str(), value))
        }
        Server::Command(command) => {
            let mut config = McpConfig::new(name, &command.program).args(&command.arguments);
            for (key, value) in &command.environment {
                config = config.env(key, value);
            }
            match &command.folder {
                Some(folder) => config.current_dir(folder),
                None => config,
            }
        }
    };
    config.timeout(TIMEOUT)
}
