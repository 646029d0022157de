//! A client that exchanges JSON lines with a server, so that tests see the messages on the wire.
#![allow(dead_code, reason = "each test uses a part")]

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// A client of one server, connected by a pipe.
pub(crate) struct Wire {
    lines: tokio::io::Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    next_id: i64,
    modern: bool,
    _child: Option<Child>,
}

/// The `_meta` of a modern request.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// The parameters of `initialize`.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

impl Wire {
    fn to(server: impl rmcp::ServerHandler, modern: bool) -> Self {
        let (client_end, server_end) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(server_end).await {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = tokio::io::split(client_end);
        Self::on(Box::new(reader), Box::new(writer), modern, None)
    }

    fn on(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        modern: bool,
        child: Option<Child>,
    ) -> Self {
        Self { lines: BufReader::new(reader).lines(), writer, next_id: 1, modern, _child: child }
    }

    /// Connects a client of 2025-11-25 to a server behind the raw transport, with the server's settings for it.
    pub(crate) async fn raw<H: rmcp::ServerHandler>(server: stickler_rmcp::Validated<H>) -> Self {
        server.check_tools().await.unwrap();
        let (client_end, server_end) = tokio::io::duplex(1 << 20);
        let (from_client, to_client) = tokio::io::split(server_end);
        let transport =
            stickler_rmcp::RawTransport::new(from_client, to_client, &server.raw_settings());
        tokio::spawn(async move {
            if let Ok(running) = server.serve(transport).await {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = tokio::io::split(client_end);
        let mut wire = Self::on(Box::new(reader), Box::new(writer), false, None);
        wire.handshake().await;
        wire
    }

    /// Starts a process and connects to it in either era.
    pub(crate) async fn process(program: &str, arguments: &[&str], modern: bool) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).kill_on_drop(true);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (reader, writer) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut wire = Self::on(Box::new(reader), Box::new(writer), modern, Some(child));
        if !modern {
            wire.handshake().await;
        }
        wire
    }

    async fn handshake(&mut self) -> Value {
        let response = self.request("initialize", initialize()).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        response["result"].clone()
    }

    /// Connects a client of 2026-07-28.
    pub(crate) fn modern(server: impl rmcp::ServerHandler) -> Self {
        Self::to(server, true)
    }

    /// Connects a client of 2025-11-25; also returns the result of `initialize`.
    pub(crate) async fn legacy(server: impl rmcp::ServerHandler) -> (Self, Value) {
        let mut wire = Self::to(server, false);
        let info = wire.handshake().await;
        (wire, info)
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its response; skips messages that arrive before it.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> Value {
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
        self.response(id).await
    }

    /// Sends a request with the text of its parameters and returns its response.
    pub(crate) async fn request_text(&mut self, method: &str, params: &str) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.response(id).await
    }

    async fn response(&mut self, id: i64) -> Value {
        loop {
            let line =
                self.lines.next_line().await.unwrap().expect("the server closed the connection");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

/// The text of a tool result.
pub(crate) fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"))
}
