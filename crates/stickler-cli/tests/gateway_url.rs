//! The gateway in front of a server that is reached by HTTP, from HTTP and from stdio.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod folder;
    pub(crate) mod http;
    pub(crate) mod stdio;
    pub(crate) mod upstream;
}

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, accepted, http, json_answer, usual};

const ODD: &str = r#"{"jsonrpc":"2.0",  "id":3,"result":{"zUnknown":1.0,"content":[],"big":12345678901234567890123}}"#;

#[test]
fn good_calls_go_through_untouched_and_bad_ones_do_not_go_at_all() {
    let upstream =
        Upstream::start(|message| usual(message).unwrap_or_else(|| http("application/json", ODD)));
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let auth = ("authorization", "Bearer abc");
    assert_eq!(gateway.post(&[auth], &initialize()).status, 200);
    let headers = [auth, ("mcp-protocol-version", "2025-11-25"), ("x-mine", "kept")];
    let body = r#"{"jsonrpc":"2.0","id":3, "method":"tools/call","params":{"name":"echo","arguments":{"text":"caf\u00e9"},"x":1.0}}"#;
    let good = gateway.post(&headers, body);
    assert_eq!((good.text().as_str(), good.header("x-own")), (ODD, Some("kept")));
    let bad = gateway.post(&headers, &call(4, "echo", &json!({ "txt": 1 }))).json();
    assert_eq!((&bad["id"], &bad["result"]["isError"]), (&json!(4), &json!(true)), "{bad}");
    let seen = upstream.seen.lock().unwrap();
    let calls: Vec<&(String, String)> =
        seen.iter().filter(|(_, body)| body.contains("tools/call")).collect();
    assert_eq!(calls.len(), 1, "the bad call did not get there");
    assert_eq!(calls[0].1, body, "byte for byte");
    assert!(calls[0].0.starts_with("POST /mcp?x=1 ") && calls[0].0.contains("x-mine: kept"));
    assert!(!calls[0].0.contains("connection: close"), "hop by hop");
    drop(seen);
    let lists = upstream.heads("tools/list");
    assert!(!lists.is_empty() && lists.iter().all(|head| head.contains("bearer abc")), "{lists:?}");
}

#[test]
fn streams_pass_byte_by_byte() {
    const STREAM: &str = concat!(
        ": a comment\r\n\r\n",
        "id: 7\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\n",
        "data:  \"params\":{\"level\":\"info\",\"data\":1.0}}\n\n",
        "retry: 5\ndata:\n\n",
        "data:{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[],\"f\":1.0}}\r\n\r\n",
    );
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| http("text/event-stream", STREAM))
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let answer = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(answer.text(), STREAM);
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
}

#[test]
fn sessions_modern_requests_and_streams_through_two_gateways() {
    let inner = Gateway::scripted(&[]);
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    let gateway = Gateway::start(&["--url", &url]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let bad = gateway.post(&headers, &call(1, "echo", &json!({}))).json();
    assert_eq!(bad["result"]["isError"], true);
    let events = gateway.post(&headers, &call(2, "notify", &json!({ "text": "x" }))).events();
    assert_eq!(events.last().unwrap()["id"], 2);
    let stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    drop(stream);
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 200);
    assert_eq!(gateway.post(&headers, &call(3, "echo", &json!({ "text": "" }))).status, 404);
    let mismatch = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let answer = gateway.post(&mismatch, &call(4, "echo", &json!({ "text": "" })));
    assert_eq!((answer.status, answer.json()["error"]["code"].clone()), (400, json!(-32602)));
}

/// A client on stdio: writes lines, reads as many as are wanted, then ends its input.
fn converse(url: &str, lines: &[String], wanted: usize) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", "1", "--url", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = Vec::new();
    let mut next = || -> Value { serde_json::from_str(&stdout.next().unwrap().unwrap()).unwrap() };
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
        if line.contains("initialize\"") {
            answers.push(next());
        }
    }
    while answers.len() < wanted {
        answers.push(next());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    answers
}

#[test]
fn a_legacy_client_on_stdio() {
    let inner = Gateway::scripted(&["--max-children", "1"]);
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    let lines = [
        initialize(),
        ready,
        call(1, "echo", &json!({ "txt": 1 })),
        call(2, "notify", &json!({ "text": "x" })),
    ];
    let answers = converse(&url, &lines, 4);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "scripted");
    let of = |id: i32| answers.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["isError"], true);
    assert_eq!(of(2)["result"]["content"][0]["text"], "x");
    assert!(answers.iter().any(|one| one["method"] == "notifications/message"));
    // The session was ended: its place is free.
    support::stdio::until("the place is free", || inner.post(&[], &initialize()).status == 200);
}

#[test]
fn a_modern_client_on_stdio_has_its_headers_made() {
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
    let answers = converse(&url, &[modern(1, "echo", "a"), modern(2, "region", "zürich")], 2);
    let of = |id: i32| answers.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["content"][0]["text"], "a");
    assert_eq!(of(2)["result"]["content"][0]["text"], "zürich");
}

#[test]
fn a_client_on_stdio_hears_that_the_server_is_not_there() {
    let url = format!("http://127.0.0.1:{}/mcp", support::http::free_port());
    let answers = converse(&url, &[initialize()], 1);
    assert_eq!(answers[0]["id"], 0);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("STK-101"), "{answers:?}");
}

#[test]
fn a_client_that_goes_away_leaves_no_request_behind() {
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| {
            if message["params"]["arguments"]["text"] == "never" {
                std::thread::sleep(Duration::from_secs(60));
            }
            json_answer(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            )
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    let body = |text: &str| call(1, "echo", &json!({ "text": text }));
    assert_eq!(gateway.post(&headers, &body("")).status, 200);
    support::http::send(gateway.port, &headers, &body("never"));
    // The same id is refused while the first is in flight, and the server never answers that
    // one: only the news that its client has gone, which takes a moment, can free the id.
    let freed = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        gateway.post(&headers, &body("")).json()["result"]["content"] == json!([])
    });
    assert!(freed, "the id of the client that went away is still in use");
}

#[test]
fn what_is_learnt_belongs_to_whoever_was_allowed_to_see_it() {
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| {
            json_answer(
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
    assert_eq!(lists.len(), 2, "one for each user: {lists:?}");
    assert!(lists[0].contains("bearer one") && lists[1].contains("bearer two"));
}

fn for_ever() -> Vec<u8> {
    loop {
        std::thread::park();
    }
}

/// The beginning of a stream that does not go on.
fn begun() -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    format!("{head}: here we go\n\n").into_bytes()
}

#[test]
fn requests_without_an_answer_in_time_get_an_error_whatever_they_wait_for() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/call") if message["id"] == 5 => for_ever(),
        Some("tools/call") => begun(),
        _ => usual(message).unwrap(),
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
fn a_client_on_stdio_does_not_wait_for_ever_either() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/call") => for_ever(),
        _ => usual(message).unwrap_or_else(accepted),
    });
    let url = upstream.url();
    let mut gateway = support::stdio::Gateway::start(&["--request-timeout", "1", "--url", &url]);
    gateway.shake_hands();
    let answer = gateway.call(5, "echo", &json!({ "text": "hi" }));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(answer["id"] == 5 && message.starts_with("[STK-104]"), "{answer}");
    upstream.wait_for(r#""method":"notifications/cancelled","params":{"requestId":5,"#);
}

#[test]
fn headers_come_from_the_file_or_from_the_environment() {
    let upstream = Upstream::start(|message| usual(message).unwrap_or_else(accepted));
    let folder = support::folder::Folder::new();
    let url = upstream.url();
    let own = format!("[servers.a]\nurl = '{url}'\nheaders = {{ X-Key = 'a ${{SECRET}}' }}\n");
    let client = json!({ "mcpServers": { "b": {
        "type": "http", "url": url, "headers": { "X-Key": "b ${SECRET}" },
    } } });
    let own = folder.file("stickler.toml", &own);
    let client = folder.file(".mcp.json", &client.to_string());
    let variables = [("SECRET", "sesame"), ("X-Key", "c sesame")];
    for arguments in [
        ["--config", &own].as_slice(),
        &["--config", &client],
        &["--url", &url, "--header-env", "X-Key"],
    ] {
        let mut gateway = support::stdio::Gateway::with_env(arguments, &variables);
        gateway.shake_hands();
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
fn a_server_of_the_old_transport_is_named() {
    let upstream = Upstream::start(|message| match message {
        Value::Null => http("text/event-stream", "event: endpoint\ndata: /messages?id=1\n\n"),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnope".to_vec(),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let answer = gateway.post(&[], &initialize());
    assert_eq!((answer.status, &answer.json()["id"]), (502, &json!(0)));
    let on_stdio = converse(&upstream.url(), &[initialize()], 1);
    for error in [&answer.json()["error"]["message"], &on_stdio[0]["error"]["message"]] {
        let error = error.as_str().unwrap();
        assert!(error.contains("STK-101") && error.contains("HTTP+SSE"), "{error}");
        assert!(error.contains("2024-11-05") && error.contains("`/mcp`"), "{error}");
    }
    // One that is not there at all is not mistaken for it.
    let upstream =
        Upstream::start(|_| b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnope".to_vec());
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[], &initialize()).status, 404);
}

#[test]
fn a_refusal_that_names_no_request_keeps_its_status() {
    const REFUSAL: &str = r#"{"jsonrpc":"2.0", "id":"server-error","error":{"code":-32600,"message":"Session has been terminated"}}"#;
    let upstream = Upstream::start(|message| {
        usual(message).unwrap_or_else(|| {
            let head = "HTTP/1.1 404 Not Found\r\ncontent-type: application/json";
            format!("{head}\r\ncontent-length: {}\r\n\r\n{REFUSAL}", REFUSAL.len()).into_bytes()
        })
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    for _ in 0..2 {
        let answer = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
        assert_eq!((answer.status, answer.text().as_str()), (404, REFUSAL));
    }
    let lines = [initialize(), call(3, "echo", &json!({ "text": "" }))];
    let answers = converse(&upstream.url(), &lines, 2);
    assert_eq!(answers[1]["id"], 3, "on stdio only what names a request answers it");
    assert!(answers[1]["error"]["message"].as_str().unwrap().contains("404"), "{answers:?}");
}

#[test]
fn a_list_on_a_stream_that_does_not_end_is_read_all_the_same() {
    let upstream = Upstream::start(|message| match message["method"].as_str() {
        Some("tools/list") => {
            let answer = usual(message).unwrap();
            let answer = String::from_utf8(answer).unwrap();
            let (_, list) = answer.split_once("\r\n\r\n").unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            format!("{head}data: {list}\n\n").into_bytes()
        }
        _ => usual(message).unwrap_or_else(|| http("application/json", ODD)),
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let headers = [("mcp-session-id", "theirs"), ("mcp-protocol-version", "2025-11-25")];
    let refused = gateway.post(&headers, &call(3, "echo", &json!({ "txt": "" }))).json();
    assert_eq!(refused["result"]["isError"], true, "the list is known: {refused}");
    // The stream's end is not waited for: the server has the good call while it is still open.
    let good = gateway.post(&headers, &call(3, "echo", &json!({ "text": "" })));
    assert_eq!(good.text(), ODD);
}
