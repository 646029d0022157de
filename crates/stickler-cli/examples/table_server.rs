//! MCP server for the conformance table, over standard input and output.
//!
//! `table_server CASE LOG`: CASE is a JSON file `{"tools": […], "response": {"result": …} or {"error": …}}`. The server
//! lists the tools, gives the response to every call and appends the parameters of the calls to LOG.
#![allow(clippy::unwrap_used, reason = "a panic is an acceptable failure of a test program")]

use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() {
    let [case, log]: [String; 2] = std::env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    let case: Value = serde_json::from_slice(&std::fs::read(case).unwrap()).unwrap();
    let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else { continue };
        let outcome = match message["method"].as_str() {
            Some("initialize") => json!({ "result": {
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "table", "version": "1" },
            } }),
            Some("tools/list") => json!({ "result": { "tools": case["tools"] } }),
            Some("tools/call") => {
                writeln!(log, "{}", message["params"]).unwrap();
                case["response"].clone()
            }
            _ => json!({ "error": { "code": -32601, "message": "Method not found" } }),
        };
        let mut response = json!({ "jsonrpc": "2.0", "id": id });
        response.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
        writeln!(out, "{response}").unwrap();
    }
}
