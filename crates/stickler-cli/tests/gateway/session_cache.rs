//! Session cache in front of a URL: memory is bounded, and evicted sessions still work.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, accepted, default_response, json_response};
use serde_json::{Value, json};

/// A server that assigns a new id to each session.
fn server() -> Upstream {
    let opened = AtomicU32::new(0);
    Upstream::start(move |message| {
        let response = default_response(message).unwrap_or_else(|| {
            let text = message["params"]["arguments"]["text"].as_str().unwrap_or_default();
            let content = json!([{ "type": "text", "text": text.len().to_string() }]);
            let result = json!({ "content": content });
            json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        });
        if message["method"] != "initialize" {
            return response;
        }
        let name = format!("\r\nmcp-session-id: s{}", opened.fetch_add(1, Ordering::Relaxed));
        let head = response.windows(2).position(|pair| pair == b"\r\n").unwrap();
        [&response[..head], name.as_bytes(), &response[head..]].concat()
    })
}

fn open(gateway: &Gateway) -> String {
    gateway.post(&[], &initialize()).header("mcp-session-id").unwrap().to_owned()
}

fn call_echo(gateway: &Gateway, session: &str, arguments: &Value) -> Value {
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    gateway.post(&headers, &call(7, "echo", arguments)).json()
}

/// Opens sessions, makes one invalid call in each, and abandons them.
fn open_and_abandon(gateway: &Gateway, sessions: usize, call: &Value) {
    const CLIENTS: usize = 4;
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                for _ in 0..sessions / CLIENTS {
                    let session = open(gateway);
                    assert_eq!(call_echo(gateway, &session, call)["result"]["isError"], true);
                }
            });
        }
    });
}

/// Anonymous resident memory of the gateway; `None` without `/proc`.
fn resident_bytes(gateway: &Gateway) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

/// Least memory growth of the gateway while `sessions` are opened and abandoned, over some such rounds after `before`
/// earlier sessions. Retained sessions make every round grow; fragmentation and buffers only some.
fn growth(max_sessions: &str, before: usize, sessions: usize, call: &Value) -> Option<usize> {
    const ROUNDS: usize = 3;
    let upstream = server();
    // With a worker thread and a malloc arena per core, memory takes longer to stabilise.
    let variables = [
        ("STICKLER_MAX_SESSIONS", max_sessions),
        ("TOKIO_WORKER_THREADS", "2"),
        ("MALLOC_ARENA_MAX", "2"),
    ];
    let gateway = Gateway::launch(&["--url", &upstream.url()], &variables, false);
    open_and_abandon(&gateway, before, call);
    let mut grown = Vec::new();
    for _ in 0..ROUNDS {
        let before = resident_bytes(&gateway)?;
        open_and_abandon(&gateway, sessions, call);
        grown.push(resident_bytes(&gateway)?.saturating_sub(before));
    }
    grown.into_iter().min()
}

#[test]
fn abandoned_sessions_use_no_memory_beyond_the_limit() {
    let short = json!({ "txt": "" });
    let Some(grown) = growth("100", 6000, 2000, &short) else {
        return println!("skipped: no /proc");
    };
    // Without the limit it grows by nearly 4 MB, and more with every session.
    assert!(grown < 1 << 20, "grew by {grown} bytes over 2,000 sessions");
}

#[test]
fn idle_sessions_do_not_retain_parse_buffers() {
    // Long arguments and a small schema: the buffers for parsing must not be retained.
    let long = json!({ "text": "", "list": vec![0; 4000] });
    let Some(grown) = growth("10000", 400, 400, &long) else {
        return println!("skipped: no /proc");
    };
    // Parsing the call of one session takes more than 64 KiB.
    assert!(grown < 6 << 20, "grew by {grown} bytes over 400 idle sessions");
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn is_rejected(response: &Value) -> bool {
    let help = response["result"]["content"][0]["text"].as_str().unwrap_or_default();
    response["result"]["isError"] == true && help.contains("did you mean `text`")
}

#[test]
fn evicted_session_still_works() {
    let upstream = server();
    let variables = [("STICKLER_MAX_SESSIONS", "1")];
    let gateway = Gateway::start_with(&["--url", &upstream.url()], &variables);
    let (first, second) = (open(&gateway), open(&gateway));
    for session in [&first, &second, &first, &first] {
        let headers = [("mcp-session-id", session.as_str())];
        assert_eq!(gateway.post(&headers, READY).status, 202);
        assert!(is_rejected(&call_echo(&gateway, session, &json!({ "txt": "" }))));
        let valid = call_echo(&gateway, session, &json!({ "text": "four" }));
        assert_eq!(valid["result"]["content"][0]["text"], "4", "{valid}");
    }
    assert_eq!(upstream.heads("tools/call").len(), 4, "only valid calls are forwarded");
}

#[test]
fn session_older_than_the_gateway_is_validated_from_its_first_call() {
    let upstream = server();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    // If the gateway waited for a handshake, the call would be forwarded unchecked.
    assert_eq!(gateway.post(&[("mcp-session-id", "older")], READY).status, 202);
    assert!(is_rejected(&call_echo(&gateway, "older", &json!({ "txt": "" }))));
    assert!(upstream.heads("tools/call").is_empty());
}

#[test]
fn evicted_tool_list_of_a_credential_is_fetched_again() {
    let upstream = server();
    let variables = [("STICKLER_MAX_SESSIONS", "1")];
    let gateway = Gateway::start_with(&["--url", &upstream.url()], &variables);
    // A session may still be in use for a moment after its response was read, and then it is evicted by a
    // later one. With several users in between, the first is evicted.
    let calls = [("one", 1), ("two", 2), ("two", 2), ("three", 3), ("four", 4), ("one", 5)];
    for (user, lists) in calls {
        let headers = [
            ("mcp-session-id", user),
            ("mcp-protocol-version", "2025-11-25"),
            ("authorization", user),
        ];
        let response = gateway.post(&headers, &call(7, "echo", &json!({ "txt": "" }))).json();
        assert!(is_rejected(&response), "{response}");
        assert_eq!(upstream.heads("tools/list").len(), lists, "after a call of {user}");
    }
}

fn in_session(name: &str) -> [(&str, &str); 2] {
    [("mcp-session-id", name), ("mcp-protocol-version", "2025-11-25")]
}

#[test]
fn stream_keeps_its_session_after_many_newer_sessions() {
    let upstream = Upstream::start(|message| match message {
        // This stream stays open.
        Value::Null => {
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: open\n\n".to_vec()
        }
        _ => default_response(message).unwrap_or_else(accepted),
    });
    let gateway = Gateway::start(&["--strict", "--url", &upstream.url()]);
    let mut stream = gateway.open("GET", "/mcp", &in_session("first"), "");
    assert_eq!(stream.line(": ").as_deref(), Some(": open"));
    for number in 0..100 {
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(gateway.post(&in_session(&number.to_string()), ready).status, 202);
    }
    upstream.send_to_streams(&json!({
        "jsonrpc": "2.0", "id": "rejected", "method": "sampling/createMessage", "params": {},
    }));
    upstream.wait_for("rejected");
    let seen = upstream.seen.lock().unwrap();
    let (head, response) = seen.last().unwrap();
    assert!(response.contains("error"), "{response}");
    assert!(head.to_ascii_lowercase().contains("mcp-session-id: first"), "{head}");
}
