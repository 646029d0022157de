//! Resuming broken streams of a server at a URL with `Last-Event-ID`.

use std::time::Duration;

use crate::support::http::{Gateway, call};
use crate::support::upstream::{Upstream, default_response, http};
use serde_json::{Value, json};

#[test]
fn resume_request_is_forwarded_to_the_url() {
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", "id: 8\ndata: \n\n"),
        _ => default_response(message).unwrap(),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("last-event-id", "7")];
    let response = gateway.open("GET", "/mcp", &headers, "").finish();
    assert_eq!((response.status, response.text().as_str()), (200, "id: 8\ndata: \n\n"));
    let seen = upstream.seen.lock().unwrap();
    let head = seen.last().unwrap().0.to_ascii_lowercase();
    assert!(head.starts_with("get ") && head.contains("last-event-id: 7"), "{head}");
}

#[test]
fn response_on_a_resumed_stream_is_forwarded() {
    const REST: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", &format!("id: 8\ndata: {REST}\n\n")),
        _ => default_response(message)
            .unwrap_or_else(|| http("text/event-stream", "id: 7\nretry: 10\ndata: \n\n")),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    let truncated = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(
        truncated.text(),
        "id: 7\nretry: 10\ndata: \n\n",
        "no error: the stream can be resumed"
    );
    let resume_headers = [headers[0], headers[1], ("last-event-id", "7")];
    let resumed = gateway.open("GET", "/mcp", &resume_headers, "").finish();
    assert_eq!(resumed.text(), format!("id: 8\ndata: {REST}\n\n"));
}

#[test]
fn client_that_drops_a_stream_can_resume_it_for_the_response() {
    const REST: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", &format!("id: 8\ndata: {REST}\n\n")),
        _ => default_response(message).unwrap_or_else(|| {
            // The stream stays open until the client disconnects.
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            format!("{head}id: 7\ndata: \n\n").into_bytes()
        }),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    let body = call(3, "echo", &json!({ "text": "" }));
    let mut stream = gateway.open("POST", "/mcp", &headers, &body);
    assert_eq!(stream.line("id: ").as_deref(), Some("id: 7"));
    drop(stream);
    // The gateway must keep the response whether or not it has noticed the disconnect.
    std::thread::sleep(Duration::from_millis(300));
    let resume_headers = [headers[0], headers[1], ("last-event-id", "7")];
    let resumed = gateway.open("GET", "/mcp", &resume_headers, "").finish();
    assert_eq!(resumed.text(), format!("id: 8\ndata: {REST}\n\n"));
}

#[test]
fn resumable_request_is_cancelled_at_the_request_timeout() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| http("text/event-stream", "id: 7\ndata: \n\n"))
    });
    let gateway = Gateway::start(&["--request-timeout", "1", "--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    upstream.wait_for("notifications/cancelled");
}
