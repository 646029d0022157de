//! Requests of 2026-07-28, with the headers that repeat them.

use serde_json::{Value, json};

use super::http::{Gateway, Open};

pub(crate) const BOTH: &str = "application/json, text/event-stream";

/// A request of a client that can do that, and its answer as it comes.
pub(crate) fn ask(
    gateway: &Gateway,
    (id, method): (&str, &str),
    mut params: Value,
    (accept, can_do): (&str, &Value),
) -> Open {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can_do.clone();
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
