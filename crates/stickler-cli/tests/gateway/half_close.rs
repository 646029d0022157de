//! Clients that half-close the connection after a request: the message is processed and the request
//! answered.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::support::http::{Gateway, call};
use crate::support::server_log::ServerLog;
use crate::support::stdio::wait_until;
use crate::support::upstream::{Upstream, default_response, json_response};
use rustix::net::{SendFlags, send};
use serde_json::{Value, json};

/// Repetitions per test: whether the gateway sees the FIN together with the request depends on timing.
const REPETITIONS: usize = 40;

/// Sends a request and half-closes the connection, with the FIN in the last segment.
fn send_and_half_close(port: u16, method: &str, session: Option<&str>, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let session = session.map(|name| format!("mcp-session-id: {name}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n",
        body.len()
    );
    // `MSG_MORE` holds these bytes back until the shutdown, so that they share a segment with the FIN.
    let request = format!("{head}{body}");
    let (most, last) = request.split_at(request.len().saturating_sub(1000));
    stream.write_all(most.as_bytes()).unwrap();
    let sent = send(&stream, last.as_bytes(), SendFlags::MORE).unwrap();
    assert_eq!(sent, last.len());
    stream.shutdown(Shutdown::Write).unwrap();
    stream
}

/// Reads until the gateway closes the connection.
fn read_to_end(mut stream: TcpStream) -> String {
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn half_closed_notifications_are_delivered() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let session = gateway.session();
    for number in 0..REPETITIONS {
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "n": number } });
        drop(send_and_half_close(gateway.port, "POST", Some(&session), &message.to_string()));
    }
    wait_until("all notifications have arrived", || {
        server_log.matching("notifications/x").len() == REPETITIONS
    });
}

#[test]
fn half_closed_delete_requests_end_their_sessions() {
    let gateway = Gateway::scripted(&[]);
    let sessions: Vec<String> = (0..8).map(|_| gateway.session()).collect();
    assert_eq!(gateway.children(), sessions.len());
    for session in &sessions {
        drop(send_and_half_close(gateway.port, "DELETE", Some(session), ""));
    }
    wait_until("all servers have exited", || gateway.children() == 0);
}

#[test]
fn half_closed_requests_are_answered() {
    let gateway = Gateway::scripted(&["--keep-alive", "1"]);
    let session = gateway.session();
    let request = |tool: &str, arguments: Value| {
        let call = call(1, tool, &arguments);
        read_to_end(send_and_half_close(gateway.port, "POST", Some(&session), &call))
    };
    for number in 0..REPETITIONS {
        let response = request("echo", json!({ "text": format!("number {number}") }));
        assert!(response.contains(&format!("number {number}")), "{response}");
    }
    // The same holds for a stream, and for a response that exceeds the socket buffer.
    let response = request("slow", json!({ "text": "at last", "millis": 2500 }));
    assert!(response.contains("text/event-stream") && response.contains("at last"), "{response}");
    let long = "x".repeat(8 << 20);
    let response = request("echo", json!({ "text": long }));
    assert!(response.contains(&long), "received {} bytes", response.len());
}

#[test]
fn half_closed_requests_to_a_url_are_answered() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            std::thread::sleep(Duration::from_millis(20));
            let result = json!({ "content": [], "n": message["id"] });
            json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    for number in 0..REPETITIONS {
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/x" }).to_string();
        drop(send_and_half_close(gateway.port, "POST", None, &notification));
        let call = call(number, "echo", &json!({ "text": "x" }));
        let response = read_to_end(send_and_half_close(gateway.port, "POST", None, &call));
        assert!(response.contains(&format!("\"n\":{number}")), "{response}");
    }
    wait_until("all notifications have arrived", || {
        let seen = upstream.seen.lock().unwrap();
        seen.iter().filter(|(_, body)| body.contains("notifications/x")).count() == REPETITIONS
    });
}

#[test]
fn incomplete_half_closed_request_is_not_awaited() {
    let gateway = Gateway::scripted(&[]);
    let whole = call(1, "echo", &json!({ "text": "x" }));
    for (head, is_answered) in [
        ("content-length: 1000\r\n\r\n", true),
        ("transfer-encoding: chunked\r\n\r\nff\r\n", true),
        ("", false),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let body = if head.is_empty() { "" } else { &whole };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{head}{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let response = read_to_end(stream);
        // Without a complete head there is no request to answer.
        assert_eq!(response.is_empty(), !is_answered, "{response}");
        if is_answered {
            assert!(response.starts_with("HTTP/1.1 400"), "{response}");
            assert!(response.contains("\"code\":-32600"), "{response}");
        }
    }
}
