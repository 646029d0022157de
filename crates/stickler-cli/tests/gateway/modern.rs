//! Modern requests over HTTP in front of a command: all clients share one process.

use crate::support::http::{Gateway, call};
use crate::support::server_log::ServerLog;
use serde_json::{Value, json};

/// Sends a modern call with its mirrored headers.
fn modern(
    gateway: &Gateway,
    id: &Value,
    tool: &str,
    arguments: &Value,
) -> crate::support::http::Response {
    let body = modern_call(id, tool, arguments);
    gateway.post(&modern_headers(tool), &body)
}

fn modern_headers(tool: &str) -> [(&str, &str); 3] {
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]
}

fn modern_call(id: &Value, tool: &str, arguments: &Value) -> String {
    let mut body: Value = serde_json::from_str(&call(id.clone(), tool, arguments)).unwrap();
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "same",
    });
    body.to_string()
}

#[test]
fn modern_requests_share_a_process_and_get_their_own_responses() {
    let gateway = Gateway::scripted(&["--max-children", "1"]);
    let invalid = modern(&gateway, &json!(1), "echo", &json!({ "txt": "hi" }));
    let response = invalid.json();
    assert_eq!((invalid.status, &response["result"]["isError"]), (200, &json!(true)), "{response}");
    assert_eq!(response["result"]["resultType"], "complete");
    std::thread::scope(|scope| {
        for client in 0..8 {
            let gateway = &gateway;
            scope.spawn(move || {
                for round in 0..5 {
                    let text = format!("{client}/{round}");
                    let tool = ["slow", "notify", "echo"][round % 3];
                    let arguments = json!({ "text": text, "millis": 20 });
                    let response = modern(gateway, &json!("id"), tool, &arguments);
                    let is_stream = response.header("content-type") == Some("text/event-stream");
                    let all = if is_stream { response.events() } else { vec![response.json()] };
                    let last = all.last().unwrap();
                    assert_eq!(last["id"], "id");
                    assert_eq!(last["result"]["content"][0]["text"], text.as_str());
                    for message in &all[..all.len() - 1] {
                        let is_progress = message["params"]["progressToken"] == "same";
                        assert!(is_progress || message["params"]["data"] == text.as_str());
                    }
                }
            });
        }
    });
}

#[test]
fn modern_headers_must_match_the_body() {
    let gateway = Gateway::scripted(&[]);
    let body = modern_call(&json!(7), "echo", &json!({ "text": "hi" }));
    let post = |headers: &[(&str, &str)], body: &str| {
        let response = gateway.post(headers, body);
        (response.status, response.json()["error"]["code"].clone(), response.json()["id"].clone())
    };
    let [version, method, name] = modern_headers("echo");
    assert_eq!(post(&[version, method], &body), (400, json!(-32020), json!(7)));
    assert_eq!(post(&[version, method, ("mcp-name", "slow")], &body).1, -32020);
    assert_eq!(post(&[method, name], &body).1, -32020);
    // Duplicate headers are rejected: another reader might use the other value.
    assert_eq!(post(&[version, method, name, ("mcp-name", "slow")], &body).1, -32020);
    let coded = ("mcp-name", "=?base64?ZWNobw==?=");
    assert_eq!(gateway.post(&[version, method, coded], &body).status, 200);
    let other = ("mcp-protocol-version", "2099-01-01");
    assert_eq!(post(&[other, method, name], &body), (400, json!(-32022), json!(7)));
    let bare = call(7, "echo", &json!({ "text": "hi" }));
    assert_eq!(post(&[version, method, name], &bare), (400, json!(-32602), json!(7)));
    let unknown = body.replace("tools/call", "tools/frobnicate");
    let headers = [version, ("mcp-method", "tools/frobnicate")];
    assert_eq!(post(&headers, &unknown), (404, json!(-32601), json!(7)));
    assert_eq!(gateway.open("GET", "/mcp", &[version], "").finish().status, 405);
    assert_eq!(gateway.open("DELETE", "/mcp", &[version], "").finish().status, 405);
}

#[test]
fn mirrored_argument_headers_must_match_the_body() {
    let region = modern_call(&json!(7), "region", &json!({ "text": "zürich" }));
    let [version, method, name] = modern_headers("region");
    let mirrored = ("mcp-param-text", "=?base64?esO8cmljaA==?=");
    // The first call is held until the schema is known, then validated like any other.
    for other in [None, Some(("mcp-param-text", "wien")), Some(("mcp-param-text", "zürich"))] {
        let gateway = Gateway::scripted(&[]);
        let headers: Vec<_> = [version, method, name].into_iter().chain(other).collect();
        let response = gateway.post(&headers, &region);
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32020)));
        assert_eq!(gateway.post(&[version, method, name, mirrored], &region).status, 200);
    }
}

#[test]
fn unparseable_response_becomes_an_error() {
    for response in [r#""result":{"content":[{"type":"te"#, r#""result":{"x":"\ud8"}}"#] {
        let server =
            format!(r#"read line; printf '%s\n' '{{"jsonrpc":"2.0","id":1,{response}'; cat"#);
        let gateway = Gateway::start(&["--", "sh", "-c", &server]);
        let mut body: Value =
            serde_json::from_str(&modern_call(&json!("a"), "x", &json!({}))).unwrap();
        body["method"] = json!("prompts/list");
        let [version, ..] = modern_headers("x");
        let headers = [version, ("mcp-method", "prompts/list")];
        let response = gateway.post(&headers, &body.to_string()).json();
        assert_eq!(response["id"], "a", "{response}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot be parsed"), "{response}");
    }
}

#[test]
fn response_without_result_or_error_reaches_its_request() {
    let server = r#"read line; echo '{"jsonrpc":"2.0","id":1}'; cat"#;
    let gateway = Gateway::start(&["--", "sh", "-c", server]);
    let mut body: Value = serde_json::from_str(&modern_call(&json!(5), "x", &json!({}))).unwrap();
    body["method"] = json!("prompts/list");
    let [version, ..] = modern_headers("x");
    let response = gateway.post(&[version, ("mcp-method", "prompts/list")], &body.to_string());
    assert_eq!(response.json()["id"], 5, "{response:?}");
}

#[test]
fn response_id_1_0_matches_request_id_1() {
    let server = r#"read line; echo '{"jsonrpc":"2.0","id":1.0,"result":{"resultType":"complete","prompts":[],"ttlMs":1,"cacheScope":"public"}}'; cat"#;
    let gateway = Gateway::start(&["--", "sh", "-c", server]);
    let mut body: Value = serde_json::from_str(&modern_call(&json!(5), "x", &json!({}))).unwrap();
    body["method"] = json!("prompts/list");
    let [version, ..] = modern_headers("x");
    let response = gateway.post(&[version, ("mcp-method", "prompts/list")], &body.to_string());
    assert_eq!(response.json()["id"], 5, "{response:?}");
}

#[test]
fn closing_the_stream_cancels_a_modern_request() {
    let (gateway, server_log) = ServerLog::with_gateway();
    modern(&gateway, &json!(1), "echo", &json!({ "text": "fetches the tool list" }));
    let body = modern_call(&json!(1), "slow", &json!({ "text": "", "millis": 60_000 }));
    crate::support::http::send(gateway.port, &modern_headers("slow"), &body);
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let cancelled = read(&server_log.wait_for("notifications/cancelled"));
    let slow = read(&server_log.wait_for("\"slow\""));
    assert_eq!(slow["id"], cancelled["params"]["requestId"]);
}

#[test]
fn shared_process_exit_fails_pending_requests_and_the_next_request_restarts_it() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let arguments = json!({ "text": "", "millis": 9000 });
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| modern(&gateway, &json!(1), "slow", &arguments).json());
        server_log.wait_for("\"slow\"");
        let died = modern(&gateway, &json!(1), "die", &json!({ "text": "" })).json();
        assert!(died["error"]["message"].as_str().unwrap().contains("STK-105"), "{died}");
        assert_eq!(waiting.join().unwrap()["error"]["data"]["method"], "tools/call");
    });
    let next = modern(&gateway, &json!(1), "echo", &json!({ "text": "again" }));
    assert_eq!(next.json()["result"]["content"][0]["text"], "again");
}
