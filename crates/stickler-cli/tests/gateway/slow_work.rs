//! Slow validation work for one server does not delay other servers or health checks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::folder::Folder;
use crate::support::http::{Gateway, call, request};
use crate::support::upstream::{Upstream, default_response, json_response};
use serde_json::{Value, json};

/// Concurrent calls; more than a small machine has serving threads.
const SLOW_CALLS: usize = 10;

/// A server with tools that have schemas that take long to compile.
fn server_with_slow_schemas() -> Upstream {
    Upstream::start(|message| match message["method"].as_str() {
        Some("tools/list") => {
            let tools: Vec<Value> = (0..SLOW_CALLS).map(slow_tool).collect();
            let result = json!({ "tools": tools });
            json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        }
        _ => response(message),
    })
}

/// Each tool has a different schema, so that no compiled schema is shared.
fn slow_tool(number: usize) -> Value {
    let pattern = format!("^(\\p{{L}}{{1,9}}-?){{1,4}}{number}$");
    let schema = json!({ "type": "object", "properties": { "name": { "pattern": pattern } } });
    json!({ "name": format!("t{number}"), "inputSchema": schema })
}

fn response(message: &Value) -> Vec<u8> {
    default_response(message).unwrap_or_else(|| {
        let result = json!({ "content": [] });
        json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    })
}

#[test]
fn calls_to_other_servers_and_health_checks_are_answered_while_schemas_compile() {
    let (slow, quick) = (server_with_slow_schemas(), Upstream::start(response));
    let folder = Folder::new();
    let config = format!(
        "[servers.slow]\nurl = '{}'\n[servers.quick]\nurl = '{}'\n",
        slow.url(),
        quick.url()
    );
    let gateway = Gateway::start(&["--config", &folder.file("stickler.toml", &config)]);
    let post = |path: &str, session: &str, body: &str| {
        let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        request(gateway.port, "POST", path, &headers, body).finish().status
    };
    let quick_call = call(1, "echo", &json!({ "text": "a" }));
    assert_eq!(post("/quick/mcp", "s", &quick_call), 200);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..SLOW_CALLS {
            let (post, answered) = (&post, &answered);
            scope.spawn(move || {
                let tool = format!("t{number}");
                let status = post("/slow/mcp", &tool, &call(1, &tool, &json!({ "name": "?" })));
                answered.fetch_add(1, Ordering::SeqCst);
                assert_eq!(status, 200);
            });
        }
        let mut checks = 0;
        while answered.load(Ordering::SeqCst) < SLOW_CALLS / 2 {
            assert_eq!(request(gateway.port, "GET", "/healthz", &[], "").finish().status, 200);
            assert_eq!(post("/quick/mcp", "s", &quick_call), 200);
            checks += 1;
        }
        assert!(checks >= 10, "only {checks} checks were answered in the meantime");
    });
    assert_eq!(slow.heads("tools/call").len(), 0, "the slow calls were validated");
}
