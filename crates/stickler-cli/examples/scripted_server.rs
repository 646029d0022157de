//! A small MCP server for the gateway's tests: both eras, over standard input and output.
//!
//! Tools: `echo` gives its text back, `slow` does so after a while, `notify` sends progress and a
//! log message first, `later` a log message afterwards, `ask` asks the client for its roots, `die` ends the process. With
//! `--log FILE` every message that comes is written to a file.
#![allow(clippy::unwrap_used, reason = "a test program may be blunt")]

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let log = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--log"), Some(file)) => {
            Some(std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap())
        }
        _ => None,
    };
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if let Some(mut log) = log.as_ref() {
            writeln!(log, "{line}").unwrap();
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message["method"] == "tools/call" && message["params"]["name"] == "slow" {
            std::thread::spawn(move || {
                let millis = message["params"]["arguments"]["millis"].as_u64().unwrap_or(300);
                std::thread::sleep(Duration::from_millis(millis));
                answer(&message);
            });
        } else {
            answer(&message);
        }
    }
}

fn answer(message: &Value) {
    let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { return };
    let params = &message["params"];
    let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    let mut result = match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": { "name": "scripted", "version": "1" },
        }),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} },
            "ttlMs": 60_000, "cacheScope": "public",
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": tools() }),
        "tools/call" => call(params),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    if is_modern {
        result["resultType"] = "complete".into();
        if method == "tools/list" {
            result["ttlMs"] = 60_000.into();
            result["cacheScope"] = "public".into();
        }
    }
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    if params["name"] == "later" {
        notify("notifications/message", &json!({ "level": "info", "data": "later" }));
    }
}

fn call(params: &Value) -> Value {
    let text = params["arguments"]["text"].as_str().unwrap_or_default();
    match params["name"].as_str().unwrap_or_default() {
        "die" => std::process::exit(7),
        "notify" => {
            if let Some(token) = params["_meta"].get("progressToken") {
                let params = json!({ "progressToken": token, "progress": 1 });
                notify("notifications/progress", &params);
            }
            notify("notifications/message", &json!({ "level": "info", "data": text }));
        }
        "ask" => say(&json!({ "jsonrpc": "2.0", "id": "from-server", "method": "ping" })),
        _ => {}
    }
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn tools() -> Value {
    let tool = |name: &str| {
        json!({
            "name": name,
            "description": "Gives its text back",
            "inputSchema": {
                "type": "object",
                "properties": { "text": { "type": "string" }, "millis": { "type": "integer" } },
                "required": ["text"],
            },
        })
    };
    let mut region = tool("region");
    region["inputSchema"]["properties"]["text"]["x-mcp-header"] = "Text".into();
    json!([
        tool("echo"),
        tool("slow"),
        tool("notify"),
        tool("later"),
        tool("ask"),
        tool("die"),
        region
    ])
}

fn notify(method: &str, params: &Value) {
    say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Nobody there to hear it is no reason to make noise.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
