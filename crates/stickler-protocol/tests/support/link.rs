//! A gatekeeper between a client and a server that a test speaks for.
#![allow(dead_code, reason = "not every test needs everything")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{McpValidator, ValidationConfig};
use stickler_protocol::{Event, Gatekeeper, GatekeeperSettings, Outbox, ValidationMiddleware};

/// A client and a server with a gatekeeper between them, at some second.
pub(crate) struct Link {
    pub(crate) gatekeeper: Gatekeeper,
    pub(crate) now: u64,
}

/// What came out, as JSON.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) client: Vec<Value>,
    pub(crate) server: Vec<Value>,
    pub(crate) events: Vec<Event>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self::with(|middleware| middleware)
    }

    pub(crate) fn with(begin: impl Fn(ValidationMiddleware) -> ValidationMiddleware) -> Self {
        Self::settled(begin, GatekeeperSettings::default())
    }

    pub(crate) fn settled(
        begin: impl Fn(ValidationMiddleware) -> ValidationMiddleware,
        settings: GatekeeperSettings,
    ) -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let middleware = begin(ValidationMiddleware::new("server", Arc::clone(&validator)));
        Self { gatekeeper: Gatekeeper::new("server", validator, middleware, settings), now: 0 }
    }

    /// After a handshake with a server that has tools.
    pub(crate) fn ready() -> Self {
        let mut link = Self::new();
        link.shake_hands();
        link
    }

    /// After the tools are known, too.
    pub(crate) fn informed() -> Self {
        let mut link = Self::ready();
        link.learn_tools();
        link
    }

    /// After the handshake of the revision that has batches.
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

    pub(crate) fn shake_hands(&mut self) {
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
        sent(self.gatekeeper.from_client(text.as_bytes(), Duration::from_secs(self.now)))
    }

    pub(crate) fn server(&mut self, message: Value) -> Sent {
        let text = message.to_string();
        sent(self.gatekeeper.from_server(text.as_bytes(), Duration::from_secs(self.now)))
    }
}

pub(crate) fn sent(outbox: Outbox<'_>) -> Sent {
    let read = |messages: Vec<std::borrow::Cow<'_, [u8]>>| {
        messages.iter().map(|message| serde_json::from_slice(message).unwrap()).collect()
    };
    Sent { client: read(outbox.to_client), server: read(outbox.to_server), events: outbox.events }
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
