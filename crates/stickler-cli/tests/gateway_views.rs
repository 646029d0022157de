//! A server may list other tools to other clients: each is judged by the list that it has been given.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod modern;
}

use serde_json::{Value, json};
use support::http::{Gateway, call, scripted_server};
use support::modern::{BOTH, ask};

fn choosy() -> Gateway {
    Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "choosy"])
}

/// The same, with a gateway between the gateway and the server.
fn behind_another() -> (Gateway, Gateway) {
    let inner = choosy();
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    (Gateway::start(&["--url", &url]), inner)
}

fn session(gateway: &Gateway, capabilities: &Value) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let answer = gateway.post(&[], &hello.to_string());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(gateway.post(&[("mcp-session-id", &session)], ready).status, 202);
    session
}

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string()
}

fn elicits(gateway: &Gateway) {
    let able = session(gateway, &json!({ "elicitation": {} }));
    let unable = session(gateway, &json!({}));
    let post = |session: &str, body: &str| gateway.post(&[("mcp-session-id", session)], body);
    let names = |session: &str| post(session, &list()).text();
    assert!(names(&able).contains("\"elicit\"") && !names(&unable).contains("\"elicit\""));
    let answer = post(&able, &call(2, "elicit", &json!({ "text": "x" }))).json();
    assert!(answer["result"]["content"].is_array(), "{answer}");
    let answer = post(&unable, &call(3, "elicitt", &json!({ "text": "x" }))).text();
    assert!(!answer.contains("`elicit`"), "what others may see: {answer}");
}

#[test]
fn a_session_is_judged_by_its_own_list() {
    elicits(&choosy());
    let (gateway, _inner) = behind_another();
    elicits(&gateway);
}

fn modern(gateway: &Gateway, method: &str, params: Value, can_do: &Value) -> Value {
    ask(gateway, ("mine", method), params, (BOTH, can_do)).finish().json()
}

#[test]
fn a_modern_request_is_judged_by_what_its_client_can_do() {
    let (outer, inner) = behind_another();
    for gateway in [&inner, &outer] {
        let able = json!({ "elicitation": {} });
        for (can_do, sees) in [(&able, true), (&json!({}), false)] {
            let listed = modern(gateway, "tools/list", json!({}), can_do).to_string();
            assert_eq!(listed.contains("\"elicit\""), sees);
        }
        let wanted = json!({ "name": "elicit", "arguments": { "text": "x" } });
        let answer = modern(gateway, "tools/call", wanted, &able);
        assert!(answer["result"]["content"].is_array(), "{answer}");
        let misspelt = json!({ "name": "elicitt", "arguments": { "text": "x" } });
        let answer = modern(gateway, "tools/call", misspelt.clone(), &able);
        assert_eq!(answer["error"]["data"]["suggestions"][0], "elicit", "{answer}");
        let answer = modern(gateway, "tools/call", misspelt, &json!({})).to_string();
        assert!(!answer.contains("`elicit`"), "{answer}");
    }
}

#[test]
fn the_same_mistake_again_is_told_to_modern_clients_too() {
    let (outer, inner) = behind_another();
    for gateway in [&outer, &inner] {
        let bad = json!({ "name": "echo", "arguments": { "txt": "x" } });
        let answers: Vec<String> = (0..3)
            .map(|_| modern(gateway, "tools/call", bad.clone(), &json!({})).to_string())
            .collect();
        assert!(!answers[0].contains("times"), "{}", answers[0]);
        assert!(answers[2].contains("refused 3 times"), "{}", answers[2]);
    }
}
