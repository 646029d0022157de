//! A peer that speaks JSON lines, so that tests see what is on the wire.
#![allow(dead_code, reason = "each test uses its own part")]

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// A client of one server, on a pipe.
pub(crate) struct Wire {
    lines: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    next_id: i64,
    modern: bool,
}

/// What a modern request carries.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// What a legacy client says first.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

impl Wire {
    fn to(server: impl rmcp::ServerHandler, modern: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(theirs).await {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, next_id: 1, modern }
    }

    /// A client of 2026-07-28.
    pub(crate) fn modern(server: impl rmcp::ServerHandler) -> Self {
        Self::to(server, true)
    }

    /// A client of 2025-11-25, and the server's answer to `initialize`.
    pub(crate) async fn legacy(server: impl rmcp::ServerHandler) -> (Self, Value) {
        let mut wire = Self::to(server, false);
        let answer = wire.ask("initialize", initialize()).await;
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        (wire, answer["result"].clone())
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The response to a request, whatever comes before it.
    pub(crate) async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.modern {
            let meta = params.get("_meta").cloned().unwrap_or_else(|| json!({}));
            let mut all = modern_meta();
            all.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
            params["_meta"] = all;
        }
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await;
        loop {
            let line = self.lines.next_line().await.unwrap().expect("the server went away");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

/// The text of a tool result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}
