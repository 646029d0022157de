//! Order of requests and GET streams in front of a URL: a request is not forwarded before the stream
//! that its client opens at the same time.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, default_response, http, json_response};
use serde_json::{Value, json};

#[test]
fn request_is_forwarded_after_the_stream_that_was_opened_before_it() {
    let log: Arc<Mutex<Vec<&str>>> = Arc::default();
    let order = Arc::clone(&log);
    let upstream = Upstream::start(move |message| {
        if message.is_null() {
            // Slow, like a server to which a connection is still being established.
            std::thread::sleep(Duration::from_millis(500));
            order.lock().unwrap().push("opened");
            return http("text/event-stream", ": hello\n\n");
        }
        default_response(message).unwrap_or_else(|| {
            order.lock().unwrap().push("called");
            json_response(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            )
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    std::thread::scope(|scope| {
        scope.spawn(|| gateway.open("GET", "/mcp", &headers, "").finish());
        while !upstream.seen.lock().unwrap().iter().any(|(head, _)| head.starts_with("GET")) {
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    });
    assert_eq!(*log.lock().unwrap(), ["opened", "called"]);
}

/// A client sends a request and opens its stream immediately afterwards, on another connection. Whether the
/// stream arrives while the request is held depends on the scheduler, so the test repeats with new sessions
/// until the stream reaches the server first four times in a row.
#[test]
fn first_request_waits_briefly_for_the_stream_opened_after_it() {
    let upstream = Upstream::start(respond);
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let (mut session, mut in_a_row) = (0, 0);
    while in_a_row < 4 {
        assert!(Instant::now() < deadline, "the request reaches the server first");
        session += 1;
        let session = format!("session-{session}-");
        let headers = handshake(&gateway, &session);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(gateway.post(&headers, &prompts(3)).status, 200));
            // Long enough for a request that is not held to be forwarded.
            std::thread::sleep(Duration::from_millis(10));
            gateway.open("GET", "/mcp", &headers, "").finish();
        });
        let seen = upstream.seen.lock().unwrap();
        let of_session = seen.iter().filter(|(head, _)| head.contains(&session));
        let mut order = of_session.filter_map(|(head, body)| match () {
            () if head.starts_with("GET") => Some("stream"),
            () => body.contains("prompts/list").then_some("request"),
        });
        in_a_row = if order.next() == Some("stream") { in_a_row + 1 } else { 0 };
    }
}

#[test]
fn client_without_a_stream_is_answered() {
    let upstream = Upstream::start(respond);
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = handshake(&gateway, "s");
    for id in 1..4 {
        let response = gateway.post(&headers, &prompts(id));
        assert_eq!(response.json()["id"], id, "{response:?}");
    }
}

fn handshake<'s>(gateway: &Gateway, session: &'s str) -> [(&'static str, &'s str); 2] {
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(gateway.post(&headers, &initialize()).status, 200);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(gateway.post(&headers, ready).status, 202);
    headers
}

fn prompts(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list" }).to_string()
}

fn respond(message: &Value) -> Vec<u8> {
    let prompts = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "prompts": [] } });
    match message {
        Value::Null => http("text/event-stream", ": hello\n\n"),
        _ => default_response(message).unwrap_or_else(|| json_response(&prompts)),
    }
}
