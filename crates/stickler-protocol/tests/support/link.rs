//! A connection under test; the test sends the messages of both the client and the server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{McpValidator, ValidationConfig};
use stickler_protocol::{Actions, Connection, ConnectionSettings, Event, Side};

pub(crate) use super::sent::{events, messages};

/// A connection and the current time in seconds.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) now: u64,
}

/// The messages sent to each side, as JSON, and the events.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) client: Vec<Value>,
    pub(crate) server: Vec<Value>,
    pub(crate) events: Vec<Event>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self::with(|connection| connection)
    }

    pub(crate) fn with(begin: impl Fn(Connection) -> Connection) -> Self {
        Self::with_settings(begin, ConnectionSettings::default())
    }

    pub(crate) fn with_settings(
        begin: impl Fn(Connection) -> Connection,
        settings: ConnectionSettings,
    ) -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        Self { connection: begin(Connection::new("server", validator, settings)), now: 0 }
    }

    /// A connection after the handshake with a server that has tools.
    pub(crate) fn ready() -> Self {
        let mut link = Self::new();
        link.handshake();
        link
    }

    /// A connection after the handshake that has also seen a tool list.
    pub(crate) fn with_known_tools() -> Self {
        let mut link = Self::ready();
        link.learn_tools();
        link
    }

    /// A connection after the handshake with revision 2025-03-26, which has batches.
    pub(crate) fn with_batches() -> Self {
        let mut link = Self::new();
        let (mut hello, mut reply) = (initialize(), initialized(json!({ "tools": {} })));
        hello["params"]["protocolVersion"] = json!("2025-03-26");
        reply["result"]["protocolVersion"] = json!("2025-03-26");
        link.client(hello);
        link.server(reply);
        link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        link
    }

    pub(crate) fn handshake(&mut self) {
        self.client(initialize());
        self.server(initialized(json!({ "tools": { "listChanged": true } })));
        self.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub(crate) fn learn_tools(&mut self) {
        self.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        self.server(json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [stat()] } }));
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.now)
    }

    pub(crate) fn client(&mut self, message: Value) -> Sent {
        let text = message.to_string();
        sent(self.connection.handle_client(
            text.as_bytes(),
            &stickler_protocol::RequestContext::default(),
            Duration::from_secs(self.now),
        ))
    }

    pub(crate) fn server(&mut self, message: Value) -> Sent {
        let text = message.to_string();
        sent(self.connection.handle_server(text.as_bytes(), Duration::from_secs(self.now)))
    }
}

pub(crate) fn sent(actions: Actions<'_>) -> Sent {
    let read = |to: Side| {
        let sent = messages(&actions, to).into_iter();
        sent.map(|message| serde_json::from_slice(message).unwrap()).collect()
    };
    Sent { client: read(Side::Client), server: read(Side::Server), events: events(&actions) }
}

pub(crate) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    } })
}

pub(crate) fn initialized(capabilities: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "serverInfo": { "name": "s", "version": "1" },
    } })
}

pub(crate) fn stat() -> Value {
    json!({ "name": "stat", "inputSchema": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
    } })
}

pub(crate) fn call(id: u32, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub(crate) fn list_of(request: &Value, tools: Value) -> Value {
    assert_eq!(request["method"], "tools/list");
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "tools": tools } })
}

pub(crate) fn is_help(answer: &Value) -> bool {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    answer["result"]["isError"] == true && text.starts_with("Tool call failed for:")
}
