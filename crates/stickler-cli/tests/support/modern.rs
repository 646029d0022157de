//! Requests of 2026-07-28 with the HTTP headers that mirror the body.

use serde_json::{Value, json};

use super::http::{Gateway, StreamingResponse};

pub(crate) const ACCEPT_BOTH: &str = "application/json, text/event-stream";

/// Sends a request of a client with these capabilities, and returns the response as a stream.
pub(crate) fn send_modern(
    gateway: &Gateway,
    (id, method): (&str, &str),
    mut params: Value,
    (accept, capabilities): (&str, &Value),
) -> StreamingResponse {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    let name = params["name"].as_str().unwrap_or("-").to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("accept", accept),
        ("mcp-name", &name),
    ];
    gateway.open("POST", "/mcp", &headers, &body.to_string())
}
