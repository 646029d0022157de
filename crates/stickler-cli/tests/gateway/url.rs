//! The gateway in front of a server at a URL, for clients on HTTP and on stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, accepted, default_response, http, json_response};
use serde_json::{Value, json};

/// A valid response with unusual whitespace, an unknown member and numbers that a reserialiser would change.
const UNUSUAL_RESPONSE: &str = r#"{"jsonrpc":"2.0",  "id":3,"result":{"zUnknown":1.0,"content":[],"big":12345678901234567890123}}"#;

#[test]
fn valid_calls_are_forwarded_unchanged_and_invalid_ones_are_not_sent() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| http("application/json", UNUSUAL_RESPONSE))
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let auth = ("authorization", "Bearer abc");
    assert_eq!(gateway.post(&[auth], &initialize()).status, 200);
    let headers = [auth, ("mcp-protocol-version", "2025-11-25"), ("x-mine", "kept")];
    let body = r#"{"jsonrpc":"2.0","id":3, "method":"tools/call","params":{"name":"echo","arguments":{"text":"caf\u00e9"},"x":1.0}}"#;
    let valid = gateway.post(&headers, body);
    assert_eq!(
        (valid.text().as_str(), valid.header("x-upstream")),
        (UNUSUAL_RESPONSE, Some("kept"))
    );
    let invalid = gateway.post(&headers, &call(4, "echo", &json!({ "txt": 1 }))).json();
    assert_eq!(
        (&invalid["id"], &invalid["result"]["isError"]),
        (&json!(4), &json!(true)),
        "{invalid}"
    );
    let seen = upstream.seen.lock().unwrap();
    let calls: Vec<&(String, String)> =
        seen.iter().filter(|(_, body)| body.contains("tools/call")).collect();
    assert_eq!(calls.len(), 1, "the invalid call was not forwarded");
    assert_eq!(calls[0].1, body, "byte for byte");
    assert!(calls[0].0.starts_with("POST /mcp?x=1 ") && calls[0].0.contains("x-mine: kept"));
    assert!(!calls[0].0.contains("connection: close"), "hop-by-hop headers are not forwarded");
    drop(seen);
    let lists = upstream.heads("tools/list");
    assert!(!lists.is_empty() && lists.iter().all(|head| head.contains("bearer abc")), "{lists:?}");
}

#[test]
fn streams_are_forwarded_byte_for_byte() {
    const STREAM: &str = concat!(
        ": a comment\r\n\r\n",
        "id: 7\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\n",
        "data:  \"params\":{\"level\":\"info\",\"data\":1.0}}\n\n",
        "retry: 5\ndata:\n\n",
        "data:{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[],\"f\":1.0}}\r\n\r\n",
    );
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| http("text/event-stream", STREAM))
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let response = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(response.text(), STREAM);
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
}

#[test]
fn two_chained_gateways_forward_sessions_streams_and_modern_requests() {
    let inner = Gateway::scripted(&[]);
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    let gateway = Gateway::start(&["--url", &url]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let invalid = gateway.post(&headers, &call(1, "echo", &json!({}))).json();
    assert_eq!(invalid["result"]["isError"], true);
    let events = gateway.post(&headers, &call(2, "notify", &json!({ "text": "x" }))).events();
    assert_eq!(events.last().unwrap()["id"], 2);
    let stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    drop(stream);
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 200);
    assert_eq!(gateway.post(&headers, &call(3, "echo", &json!({ "text": "" }))).status, 404);
    let mismatch = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let response = gateway.post(&mismatch, &call(4, "echo", &json!({ "text": "" })));
    assert_eq!((response.status, response.json()["error"]["code"].clone()), (400, json!(-32602)));
}

/// Runs a stdio client: writes lines, reads the expected number of messages, then closes stdin.
fn exchange(url: &str, lines: &[String], expected: usize) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", "1", "--url", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut responses = Vec::new();
    let mut next = || -> Value { serde_json::from_str(&stdout.next().unwrap().unwrap()).unwrap() };
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
        if line.contains("initialize\"") {
            responses.push(next());
        }
    }
    while responses.len() < expected {
        responses.push(next());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    responses
}

#[test]
fn legacy_stdio_client_uses_and_ends_an_http_session() {
    let inner = Gateway::scripted(&["--max-children", "1"]);
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    let lines = [
        initialize(),
        ready,
        call(1, "echo", &json!({ "txt": 1 })),
        call(2, "notify", &json!({ "text": "x" })),
    ];
    let responses = exchange(&url, &lines, 4);
    assert_eq!(responses[0]["result"]["serverInfo"]["name"], "scripted");
    let of = |id: i32| responses.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["isError"], true);
    assert_eq!(of(2)["result"]["content"][0]["text"], "x");
    assert!(responses.iter().any(|one| one["method"] == "notifications/message"));
    // The session was deleted, so its slot is free.
    crate::support::stdio::wait_until("the slot is free", || {
        inner.post(&[], &initialize()).status == 200
    });
}

#[test]
fn modern_stdio_client_gets_its_http_headers_generated() {
    let inner = Gateway::scripted(&[]);
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    let modern = |id: i32, tool: &str, text: &str| {
        let mut body: Value =
            serde_json::from_str(&call(id, tool, &json!({ "text": text }))).unwrap();
        body["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        body.to_string()
    };
    let responses = exchange(&url, &[modern(1, "echo", "a"), modern(2, "region", "zürich")], 2);
    let of = |id: i32| responses.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["content"][0]["text"], "a");
    assert_eq!(of(2)["result"]["content"][0]["text"], "zürich");
}

#[test]
fn stdio_client_gets_an_error_when_the_url_is_unreachable() {
    let url = format!("http://127.0.0.1:{}/mcp", crate::support::http::free_port());
    let responses = exchange(&url, &[initialize()], 1);
    assert_eq!(responses[0]["id"], 0);
    assert!(
        responses[0]["error"]["message"].as_str().unwrap().contains("STK-101"),
        "{responses:?}"
    );
}

#[test]
fn client_disconnect_frees_the_request_id() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            if message["params"]["arguments"]["text"] == "never" {
                std::thread::sleep(Duration::from_secs(60));
            }
            json_response(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            )
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    let body = |text: &str| call(1, "echo", &json!({ "text": text }));
    assert_eq!(gateway.post(&headers, &body("")).status, 200);
    crate::support::http::send(gateway.port, &headers, &body("never"));
    // The id is rejected while the first request is pending, and the server never answers that one:
    // only the disconnect of its client, which is noticed after a moment, can free the id.
    let freed = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        gateway.post(&headers, &body("")).json()["result"]["content"] == json!([])
    });
    assert!(freed, "the id of the disconnected client is still pending");
}

#[test]
fn tool_lists_are_cached_per_credential() {
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            json_response(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            )
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let body = call(1, "echo", &json!({ "text": "" }));
    for user in ["Bearer one", "Bearer two", "Bearer one"] {
        let headers = [("authorization", user), ("mcp-protocol-version", "2025-11-25")];
        assert_eq!(gateway.post(&headers, &body).status, 200);
    }
    let lists = upstream.heads("tools/list");
    assert_eq!(lists.len(), 2, "one list per credential: {lists:?}");
    assert!(lists[0].contains("bearer one") && lists[1].contains("bearer two"));
}

fn never_respond() -> Vec<u8> {
    loop {
        std::thread::park();
    }
}

/// The beginning of a stream that stalls.
fn stalled_stream() -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    format!("{head}: started\n\n").into_bytes()
}

#[test]
fn url_requests_time_out_before_and_during_a_stream() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/call") if message["id"] == 5 => never_respond(),
        Some("tools/call") => stalled_stream(),
        _ => default_response(message).unwrap(),
    });
    let gateway = Gateway::start(&["--request-timeout", "1", "--url", &upstream.url()]);
    assert_eq!(gateway.post(&[], &initialize()).status, 200);
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let arguments = json!({ "text": "hi" });
    let silent = gateway.post(&headers, &call(5, "echo", &arguments)).json();
    let message = silent["error"]["message"].as_str().unwrap();
    assert!(silent["id"] == 5 && message.starts_with("[STK-104]"), "{silent}");
    upstream.wait_for(r#""method":"notifications/cancelled","params":{"requestId":5,"#);
    let streamed = gateway.post(&headers, &call(6, "echo", &arguments)).events();
    let message = streamed[0]["error"]["message"].as_str().unwrap();
    assert!(streamed[0]["id"] == 6 && message.starts_with("[STK-104]"), "{streamed:?}");
    upstream.wait_for(r#""method":"notifications/cancelled","params":{"requestId":6,"#);
}

#[test]
fn stdio_request_to_a_url_times_out() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/call") => never_respond(),
        _ => default_response(message).unwrap_or_else(accepted),
    });
    let url = upstream.url();
    let mut gateway =
        crate::support::stdio::Gateway::start(&["--request-timeout", "1", "--url", &url]);
    gateway.handshake();
    let response = gateway.call(5, "echo", &json!({ "text": "hi" }));
    let message = response["error"]["message"].as_str().unwrap();
    assert!(response["id"] == 5 && message.starts_with("[STK-104]"), "{response}");
    upstream.wait_for(r#""method":"notifications/cancelled","params":{"requestId":5,"#);
}

#[test]
fn configured_headers_are_sent_and_not_logged() {
    let upstream = Upstream::start(|message| default_response(message).unwrap_or_else(accepted));
    let folder = crate::support::folder::Folder::new();
    let url = upstream.url();
    let toml = format!("[servers.a]\nurl = '{url}'\nheaders = {{ X-Key = 'a ${{SECRET}}' }}\n");
    let client = json!({ "mcpServers": { "b": {
        "type": "http", "url": url, "headers": { "X-Key": "b ${SECRET}" },
    } } });
    let toml = folder.file("stickler.toml", &toml);
    let client = folder.file(".mcp.json", &client.to_string());
    let variables = [("SECRET", "sesame"), ("X-Key", "c sesame")];
    for arguments in [
        ["--config", &toml].as_slice(),
        &["--config", &client],
        &["--url", &url, "--header-env", "X-Key"],
    ] {
        let mut gateway = crate::support::stdio::Gateway::with_env(arguments, &variables);
        gateway.handshake();
        assert!(!gateway.end().stderr.contains("sesame"));
    }
    let heads = upstream.heads("initialize");
    let keys: Vec<&str> = heads
        .iter()
        .flat_map(|head| head.lines())
        .filter_map(|line| line.strip_prefix("x-key: "))
        .collect();
    assert_eq!(keys, ["a sesame", "b sesame", "c sesame"]);
}

#[test]
fn http_sse_server_is_identified_in_the_error() {
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", "event: endpoint\ndata: /messages?id=1\n\n"),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnope".to_vec(),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let response = gateway.post(&[], &initialize());
    assert_eq!((response.status, &response.json()["id"]), (502, &json!(0)));
    let on_stdio = exchange(&upstream.url(), &[initialize()], 1);
    for error in [&response.json()["error"]["message"], &on_stdio[0]["error"]["message"]] {
        let error = error.as_str().unwrap();
        assert!(error.contains("STK-101") && error.contains("HTTP+SSE"), "{error}");
        assert!(error.contains("2024-11-05") && error.contains("`/mcp`"), "{error}");
    }
    // An endpoint that does not exist is not reported as HTTP+SSE.
    let upstream =
        Upstream::start(|_| b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnope".to_vec());
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[], &initialize()).status, 404);
}

#[test]
fn http_error_with_a_foreign_id_keeps_its_status() {
    const ERROR: &str = r#"{"jsonrpc":"2.0", "id":"server-error","error":{"code":-32600,"message":"Session has been terminated"}}"#;
    let upstream = Upstream::start(|message| {
        default_response(message).unwrap_or_else(|| {
            let head = "HTTP/1.1 404 Not Found\r\ncontent-type: application/json";
            format!("{head}\r\ncontent-length: {}\r\n\r\n{ERROR}", ERROR.len()).into_bytes()
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    for _ in 0..2 {
        let response = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
        assert_eq!((response.status, response.text().as_str()), (404, ERROR));
    }
    let lines = [initialize(), call(3, "echo", &json!({ "text": "" }))];
    let responses = exchange(&upstream.url(), &lines, 2);
    assert_eq!(responses[1]["id"], 3, "the error for a stdio client has the id of its request");
    assert!(responses[1]["error"]["message"].as_str().unwrap().contains("404"), "{responses:?}");
}

#[test]
fn tool_list_on_an_endless_stream_is_read() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/list") => {
            let response = default_response(message).unwrap();
            let response = String::from_utf8(response).unwrap();
            let (_, list) = response.split_once("\r\n\r\n").unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            format!("{head}data: {list}\n\n").into_bytes()
        }
        _ => {
            default_response(message).unwrap_or_else(|| http("application/json", UNUSUAL_RESPONSE))
        }
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "s"), ("mcp-protocol-version", "2025-11-25")];
    let rejected = gateway.post(&headers, &call(3, "echo", &json!({ "txt": "" }))).json();
    assert_eq!(rejected["result"]["isError"], true, "the tool list is known: {rejected}");
    // The gateway does not wait for the end of the stream: it forwards the valid call while it is open.
    let valid = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(valid.text(), UNUSUAL_RESPONSE);
}
