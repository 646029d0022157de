//! Request timeouts over HTTP, and the log of rejected and forwarded messages.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::support::folder::Folder;
use crate::support::http::{Gateway, call, scripted_server};
use serde_json::{Value, json};

/// Waits until the server has received a message that contains a text.
fn wait_for(folder: &Folder, text: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !folder.read("log").contains(text) {
        assert!(Instant::now() < deadline, "no {text} in {}", folder.read("log"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn gateway(folder: &Folder) -> Gateway {
    let server = scripted_server();
    let log = folder.path("log");
    Gateway::start(&["--request-timeout", "1", "--", server.to_str().unwrap(), "--log", &log])
}

fn assert_timed_out(response: &Value, id: &Value) {
    let message = response["error"]["message"].as_str().unwrap_or_default();
    assert!(&response["id"] == id && message.starts_with("[STK-104]"), "{response}");
}

#[test]
fn session_request_times_out() {
    let folder = Folder::new();
    let gateway = gateway(&folder);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let slow = json!({ "text": "x", "millis": 3_600_000 });
    let timed_out = gateway.post(&headers, &call("a", "slow", &slow)).json();
    assert_timed_out(&timed_out, &json!("a"));
    wait_for(&folder, r#""method":"notifications/cancelled","params":{"requestId":"a","#);
    let quick = gateway.post(&headers, &call("a2", "echo", &json!({ "text": "y" }))).json();
    assert_eq!(quick["result"]["content"][0]["text"], "y", "the session continues");
}

#[test]
fn shared_process_request_times_out() {
    let folder = Folder::new();
    let gateway = gateway(&folder);
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "slow"),
    ];
    let slow = json!({ "text": "x", "millis": 3_600_000 });
    let mut body: Value = serde_json::from_str(&call("mine", "slow", &slow)).unwrap();
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let timed_out = gateway.post(&headers, &body.to_string()).json();
    assert_timed_out(&timed_out, &json!("mine"));
    // The cancellation uses the internal request id.
    wait_for(&folder, "notifications/cancelled");
    let log = folder.read("log");
    let messages: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sent = messages.iter().find(|one| one["params"]["name"] == "slow").unwrap();
    let cancelled: Vec<&Value> =
        messages.iter().filter(|one| one["method"] == "notifications/cancelled").collect();
    assert_eq!(cancelled.len(), 1, "{log}");
    assert_eq!(cancelled[0]["params"]["requestId"], sent["id"]);
}

/// Answers a request with ten seconds of SSE comments.
fn flood(mut stream: TcpStream) {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let end = Instant::now() + Duration::from_secs(10);
    let comments = ": busy\n\n".repeat(1000);
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(HEAD);
    while Instant::now() < end && stream.write_all(comments.as_bytes()).is_ok() {}
}

#[test]
fn endless_comment_stream_does_not_extend_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || flood(stream));
        }
    });
    let gateway = Gateway::start(&["--request-timeout", "1", "--url", &url]);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let mut response = gateway.open("POST", "/mcp", &headers, &ping);
    assert_timed_out(&response.event().unwrap(), &json!(1));
}

#[test]
fn log_reports_rejections_in_full_and_forwarded_messages_at_debug_level() {
    let server = scripted_server();
    let arguments = ["--log", "debug", "--", server.to_str().unwrap()];
    let mut gateway = crate::support::stdio::Gateway::start(&arguments);
    gateway.handshake();
    gateway.call(1, "echo", &json!({ "text": 7_654_321 }));
    gateway.call(2, "echo", &json!({ "text": "sesame" }));
    let log = gateway.end().stderr;
    for line in [
        "WARN scripted_server: call of `echo` from the client rejected: [STK-107] \
         /params/arguments/text: expected string, received integer (schema path /properties/text/type)",
        "DEBUG scripted_server: call of `echo` from the client: forwarded",
        "DEBUG scripted_server: response to a call of `echo` from the server: forwarded",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
    assert!(!log.contains("sesame") && !log.contains("7654321"), "the log contains values: {log}");
}
