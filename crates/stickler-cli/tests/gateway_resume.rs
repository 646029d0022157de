//! Streams of a server behind a URL that break off and are asked for again.
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

use std::time::Duration;

use serde_json::{Value, json};
use support::http::{Gateway, call};
use support::upstream::{Upstream, http, usual};

#[test]
fn a_client_that_comes_back_for_the_rest_is_passed_on() {
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", "id: 8\ndata: \n\n"),
        _ => usual(message).unwrap(),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("last-event-id", "7")];
    let answer = gateway.open("GET", "/mcp", &headers, "").finish();
    assert_eq!((answer.status, answer.text().as_str()), (200, "id: 8\ndata: \n\n"));
    let seen = upstream.seen.lock().unwrap();
    let head = seen.last().unwrap().0.to_ascii_lowercase();
    assert!(head.starts_with("get ") && head.contains("last-event-id: 7"), "{head}");
}

#[test]
fn an_answer_that_comes_on_the_resumed_stream_gets_through() {
    const REST: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", &format!("id: 8\ndata: {REST}\n\n")),
        _ => usual(message)
            .unwrap_or_else(|| http("text/event-stream", "id: 7\nretry: 10\ndata: \n\n")),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    let broken_off = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(broken_off.text(), "id: 7\nretry: 10\ndata: \n\n", "no error: the rest can be had");
    let again = [headers[0], headers[1], ("last-event-id", "7")];
    let rest = gateway.open("GET", "/mcp", &again, "").finish();
    assert_eq!(rest.text(), format!("id: 8\ndata: {REST}\n\n"));
}

#[test]
fn a_client_that_leaves_a_stream_can_come_back_for_the_answer() {
    const REST: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", &format!("id: 8\ndata: {REST}\n\n")),
        _ => usual(message).unwrap_or_else(|| {
            // Stays open until its client goes away.
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            format!("{head}id: 7\ndata: \n\n").into_bytes()
        }),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    let body = call(3, "echo", &json!({ "text": "" }));
    let mut stream = gateway.open("POST", "/mcp", &headers, &body);
    assert_eq!(stream.line("id: ").as_deref(), Some("id: 7"));
    drop(stream);
    // Whether or not the gateway has noticed by now, the answer is wanted.
    std::thread::sleep(Duration::from_millis(300));
    let again = [headers[0], headers[1], ("last-event-id", "7")];
    let rest = gateway.open("GET", "/mcp", &again, "").finish();
    assert_eq!(rest.text(), format!("id: 8\ndata: {REST}\n\n"));
}

#[test]
fn an_answer_that_never_comes_is_not_waited_for_longer_because_it_could() {
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| http("text/event-stream", "id: 7\ndata: \n\n"))
    });
    let gateway = Gateway::start(&["--request-timeout", "1", "--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    upstream.wait_for("notifications/cancelled");
}
