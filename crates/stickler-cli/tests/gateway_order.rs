//! The gateway in front of a URL: no request gets to the server before the stream that its client
//! opens beside it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod upstream;
}

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, http, json_answer, usual};

#[test]
fn a_request_does_not_overtake_the_stream_that_was_asked_for_before_it() {
    let log: Arc<Mutex<Vec<&str>>> = Arc::default();
    let order = Arc::clone(&log);
    let upstream = Upstream::start(move |message| {
        if message.is_null() {
            // Slow, as one is to whom a connection has still to be made.
            std::thread::sleep(Duration::from_millis(500));
            order.lock().unwrap().push("opened");
            return http("text/event-stream", ": hello\n\n");
        }
        usual(message).unwrap_or_else(|| {
            order.lock().unwrap().push("called");
            json_answer(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            )
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    std::thread::scope(|scope| {
        scope.spawn(|| gateway.open("GET", "/mcp", &headers, "").finish());
        while !upstream.seen.lock().unwrap().iter().any(|(head, _)| head.starts_with("GET")) {
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    });
    assert_eq!(*log.lock().unwrap(), ["opened", "called"]);
}

/// A client that asks, and opens its stream right after it, on another connection. Whether the
/// stream comes within the moment that the request waits is for the machine to say; so it is tried
/// with one session after the other, until the stream gets to the server first more often in a row
/// than by chance.
#[test]
fn the_first_request_lets_the_stream_go_ahead_that_comes_right_after_it() {
    let upstream = Upstream::start(answer);
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let (mut session, mut in_a_row) = (0, 0);
    while in_a_row < 4 {
        assert!(Instant::now() < deadline, "the request gets there first");
        session += 1;
        let session = format!("session-{session}-");
        let headers = shake_hands(&gateway, &session);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(gateway.post(&headers, &prompts(3)).status, 200));
            // Enough for a request that waits for nothing to be gone.
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
fn a_client_that_opens_no_stream_is_answered_all_the_same() {
    let upstream = Upstream::start(answer);
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = shake_hands(&gateway, "theirs");
    for id in 1..4 {
        let answer = gateway.post(&headers, &prompts(id));
        assert_eq!(answer.json()["id"], id, "{answer:?}");
    }
}

fn shake_hands<'s>(gateway: &Gateway, session: &'s str) -> [(&'static str, &'s str); 2] {
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(gateway.post(&headers, &initialize()).status, 200);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(gateway.post(&headers, ready).status, 202);
    headers
}

fn prompts(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list" }).to_string()
}

fn answer(message: &Value) -> Vec<u8> {
    let prompts = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "prompts": [] } });
    match message {
        Value::Null => http("text/event-stream", ": hello\n\n"),
        _ => usual(message).unwrap_or_else(|| json_answer(&prompts)),
    }
}
