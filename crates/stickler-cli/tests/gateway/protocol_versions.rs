//! Protocol versions over HTTP: requirements of 2026-07-28 beyond its headers, and regressions that the official
//! conformance suite found.

use crate::support::http::{Gateway, Response, initialize};
use crate::support::upstream::{Upstream, default_response, http};
use serde_json::{Value, json};

fn modern(gateway: &Gateway, version: &str, method: &str, meta: &Value) -> Response {
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

const MODERN: &str = "2026-07-28";

/// A server that rejects every request with its own error message.
fn rejecting_server() -> Upstream {
    Upstream::start(|message| {
        let error =
            json!({ "code": -32022, "message": "from the server", "data": { "supported": [] } });
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
fn modern_request_without_client_capabilities_is_rejected() {
    let upstream = Upstream::start(|message| default_response(message).unwrap());
    let to_url = Gateway::start(&["--url", &upstream.url()]);
    for gateway in [Gateway::scripted(&[]), to_url] {
        let mut without = meta(MODERN);
        without.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        let response = modern(&gateway, MODERN, "tools/list", &without);
        let error = &response.json()["error"];
        assert_eq!((response.status, &error["code"]), (400, &json!(-32602)), "{error}");
        assert!(error["message"].as_str().unwrap().contains("clientCapabilities"), "{error}");
    }
    assert_eq!(upstream.heads("tools/list").len(), 0, "the request was not forwarded");
}

#[test]
fn modern_initialize_request_is_rejected() {
    let gateway = Gateway::scripted(&[]);
    let response = modern(&gateway, MODERN, "initialize", &meta(MODERN));
    assert_eq!((response.status, &response.json()["error"]["code"]), (404, &json!(-32601)));
    assert_eq!(response.json()["id"], 7);
    // In front of a URL, the decision is left to the server.
    let upstream = rejecting_server();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let response = modern(&gateway, MODERN, "initialize", &meta(MODERN));
    assert_eq!(
        (response.status, &response.json()["error"]["message"]),
        (400, &json!("from the server"))
    );
    // A legacy handshake is accepted whatever the version header says.
    let gateway = Gateway::scripted(&[]);
    let response = gateway.post(&[("mcp-protocol-version", MODERN)], &initialize());
    assert_eq!(response.status, 200);
    assert!(response.header("mcp-session-id").is_some());
}

#[test]
fn version_header_selects_the_era_despite_a_session_header() {
    let upstream = Upstream::start(|message| default_response(message).unwrap());
    let url = upstream.url();
    for gateway in [Gateway::scripted(&[]), Gateway::start(&["--url", &url])] {
        let list = json!({
            "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": { "_meta": meta(MODERN) },
        });
        let session = ("mcp-session-id", "unknown");
        let version = ("mcp-protocol-version", MODERN);
        let headers = [session, version, ("mcp-method", "tools/list")];
        let response = gateway.post(&headers, &list.to_string());
        assert_eq!(response.status, 200, "{response:?}");
        assert!(response.json()["result"]["tools"].is_array(), "{response:?}");
        let mismatched = [session, version, ("mcp-method", "tools/call")];
        let response = gateway.post(&mismatched, &list.to_string());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32020)));
    }
    let session = upstream.heads("tools/list");
    assert!(session.iter().any(|head| head.contains("mcp-session-id: unknown")), "{session:?}");
}

#[test]
fn unknown_versions_are_forwarded_to_a_url_and_rejected_for_a_command() {
    let upstream = rejecting_server();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let response = modern(&gateway, "2099-01-01", "tools/list", &meta("2099-01-01"));
    assert_eq!(
        (response.status, &response.json()["error"]["message"]),
        (400, &json!("from the server"))
    );
    // The gateway rejects versions that it does not support in front of a command.
    let gateway = Gateway::scripted(&[]);
    let response = modern(&gateway, "2099-01-01", "tools/list", &meta("2099-01-01"));
    let error = &response.json()["error"];
    assert_eq!((response.status, &error["code"]), (400, &json!(-32022)));
    assert_eq!(error["data"]["supported"], json!([MODERN]), "the versions without a handshake");
}

#[test]
fn rewritten_event_keeps_its_framing() {
    let upstream = Upstream::start(|message| {
        let response = default_response(message).unwrap();
        if message["method"] != "initialize" {
            return response;
        }
        let body = String::from_utf8(response).unwrap();
        let message = body.split("\r\n\r\n").nth(1).unwrap();
        http("text/event-stream", &format!("event: message\nid: 2\ndata: {message}\n\n"))
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let text = gateway.post(&[], &initialize()).text();
    assert!(text.contains("toolValidation"), "the message was rewritten: {text}");
    assert!(text.starts_with("event: message\nid: 2\ndata: {"), "{text}");
    assert!(text.ends_with("}\n\n"), "the event must end with a blank line: {text:?}");
}
