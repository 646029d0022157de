//! Tool views: a server may list different tools to different clients, and each client is validated against
//! its own list.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may panic and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod modern;
}

use serde_json::{Value, json};
use support::http::{Gateway, call, scripted_server};
use support::modern::{ACCEPT_BOTH, send_modern};

fn conditional_tools() -> Gateway {
    Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "conditional-tools"])
}

/// The same server behind two chained gateways: the outer one and the inner one.
fn chained_gateways() -> (Gateway, Gateway) {
    let inner = conditional_tools();
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    (Gateway::start(&["--url", &url]), inner)
}

fn session(gateway: &Gateway, capabilities: &Value) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let response = gateway.post(&[], &initialize.to_string());
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(gateway.post(&[("mcp-session-id", &session)], ready).status, 202);
    session
}

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string()
}

fn assert_sessions_see_their_own_list(gateway: &Gateway) {
    let able = session(gateway, &json!({ "elicitation": {} }));
    let unable = session(gateway, &json!({}));
    let post = |session: &str, body: &str| gateway.post(&[("mcp-session-id", session)], body);
    let names = |session: &str| post(session, &list()).text();
    assert!(names(&able).contains("\"elicit\"") && !names(&unable).contains("\"elicit\""));
    let response = post(&able, &call(2, "elicit", &json!({ "text": "x" }))).json();
    assert!(response["result"]["content"].is_array(), "{response}");
    let response = post(&unable, &call(3, "elicitt", &json!({ "text": "x" }))).text();
    assert!(!response.contains("`elicit`"), "suggests a tool of another client: {response}");
}

#[test]
fn session_is_validated_against_its_own_tool_list() {
    assert_sessions_see_their_own_list(&conditional_tools());
    let (gateway, _inner) = chained_gateways();
    assert_sessions_see_their_own_list(&gateway);
}

fn modern(gateway: &Gateway, method: &str, params: Value, capabilities: &Value) -> Value {
    send_modern(gateway, ("mine", method), params, (ACCEPT_BOTH, capabilities)).finish().json()
}

#[test]
fn modern_request_is_validated_against_the_list_for_its_capabilities() {
    let (outer, inner) = chained_gateways();
    for gateway in [&inner, &outer] {
        let able = json!({ "elicitation": {} });
        for (capabilities, sees) in [(&able, true), (&json!({}), false)] {
            let listed = modern(gateway, "tools/list", json!({}), capabilities).to_string();
            assert_eq!(listed.contains("\"elicit\""), sees);
        }
        let exact = json!({ "name": "elicit", "arguments": { "text": "x" } });
        let response = modern(gateway, "tools/call", exact, &able);
        assert!(response["result"]["content"].is_array(), "{response}");
        let misspelt = json!({ "name": "elicitt", "arguments": { "text": "x" } });
        let response = modern(gateway, "tools/call", misspelt.clone(), &able);
        assert!(response.to_string().contains("Did you mean `elicit`?"), "{response}");
        let response = modern(gateway, "tools/call", misspelt, &json!({})).to_string();
        assert!(!response.contains("`elicit`"), "{response}");
    }
}

#[test]
fn repeated_invalid_call_is_counted_for_modern_clients() {
    let (outer, inner) = chained_gateways();
    for gateway in [&outer, &inner] {
        let invalid = json!({ "name": "echo", "arguments": { "txt": "x" } });
        let responses: Vec<String> = (0..3)
            .map(|_| modern(gateway, "tools/call", invalid.clone(), &json!({})).to_string())
            .collect();
        assert!(!responses[0].contains("times"), "{}", responses[0]);
        assert!(responses[2].contains("rejected 3 times"), "{}", responses[2]);
    }
}
