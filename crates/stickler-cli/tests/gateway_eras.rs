//! What 2026-07-28 asks of HTTP beside its headers, and what the official suite found.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod upstream;
}

use serde_json::{Value, json};
use support::http::{Answer, Gateway, initialize};
use support::upstream::{Upstream, http, usual};

fn modern(gateway: &Gateway, version: &str, method: &str, meta: &Value) -> Answer {
    let body = json!({
        "jsonrpc": "2.0", "id": 7, "method": method, "params": { "_meta": meta },
    });
    gateway.post(&[("mcp-protocol-version", version), ("mcp-method", method)], &body.to_string())
}

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

const NOW: &str = "2026-07-28";

/// Refuses every method, in the words of its own.
fn refusing() -> Upstream {
    Upstream::start(|message| {
        let error = json!({ "code": -32022, "message": "own words", "data": { "supported": [] } });
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string();
        let length = body.len();
        format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

#[test]
fn a_request_that_does_not_say_what_its_client_can_do_is_a_bad_request() {
    let upstream = Upstream::start(|message| usual(message).unwrap());
    let to_url = Gateway::start(&["--url", &upstream.url()]);
    for gateway in [Gateway::scripted(&[]), to_url] {
        let mut without = meta(NOW);
        without.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        let answer = modern(&gateway, NOW, "tools/list", &without);
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (400, &json!(-32602)), "{error}");
        assert!(error["message"].as_str().unwrap().contains("clientCapabilities"), "{error}");
    }
    assert_eq!(upstream.heads("tools/list").len(), 0, "it did not get there");
}

#[test]
fn there_is_no_handshake_in_a_modern_request() {
    let gateway = Gateway::scripted(&[]);
    let answer = modern(&gateway, NOW, "initialize", &meta(NOW));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!(-32601)));
    assert_eq!(answer.json()["id"], 7);
    // In front of a URL the server has the word.
    let upstream = refusing();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let answer = modern(&gateway, NOW, "initialize", &meta(NOW));
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!("own words")));
    // A handshake stays one, whatever version its header names.
    let gateway = Gateway::scripted(&[]);
    let answer = gateway.post(&[("mcp-protocol-version", NOW)], &initialize());
    assert_eq!(answer.status, 200);
    assert!(answer.header("mcp-session-id").is_some());
}

#[test]
fn the_version_says_the_era_and_not_the_name_of_a_session() {
    let upstream = Upstream::start(|message| usual(message).unwrap());
    let url = upstream.url();
    for gateway in [Gateway::scripted(&[]), Gateway::start(&["--url", &url])] {
        let list = json!({
            "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": { "_meta": meta(NOW) },
        });
        let session = ("mcp-session-id", "nobody's");
        let version = ("mcp-protocol-version", NOW);
        let headers = [session, version, ("mcp-method", "tools/list")];
        let answer = gateway.post(&headers, &list.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.json()["result"]["tools"].is_array(), "{answer:?}");
        let mismatched = [session, version, ("mcp-method", "tools/call")];
        let answer = gateway.post(&mismatched, &list.to_string());
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)));
    }
    let session = upstream.heads("tools/list");
    assert!(session.iter().any(|head| head.contains("mcp-session-id: nobody's")), "{session:?}");
}

#[test]
fn versions_that_are_not_known_here_are_for_the_server_to_judge() {
    let upstream = refusing();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let answer = modern(&gateway, "2099-01-01", "tools/list", &meta("2099-01-01"));
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!("own words")));
    // A command cannot be asked in a version that nobody here knows how to speak.
    let gateway = Gateway::scripted(&[]);
    let answer = modern(&gateway, "2099-01-01", "tools/list", &meta("2099-01-01"));
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"]), (400, &json!(-32022)));
    assert_eq!(error["data"]["supported"], json!([NOW]), "those without a handshake");
}

#[test]
fn a_changed_event_ends_where_it_ended() {
    let upstream = Upstream::start(|message| {
        let answer = usual(message).unwrap();
        if message["method"] != "initialize" {
            return answer;
        }
        let body = String::from_utf8(answer).unwrap();
        let message = body.split("\r\n\r\n").nth(1).unwrap();
        http("text/event-stream", &format!("event: message\nid: 2\ndata: {message}\n\n"))
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let text = gateway.post(&[], &initialize()).text();
    assert!(text.contains("toolValidation"), "it was changed: {text}");
    assert!(text.starts_with("event: message\nid: 2\ndata: {"), "{text}");
    assert!(text.ends_with("}\n\n"), "without the blank line nobody reads it: {text:?}");
}
