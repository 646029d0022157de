//! Many sessions of a server behind a URL: memory is bounded, and those that were forgotten still work.
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

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, accepted, json_answer, usual};

/// A server with sessions, each with a name of its own.
fn server() -> Upstream {
    let opened = AtomicU32::new(0);
    Upstream::start(move |message| {
        let answer = usual(message).unwrap_or_else(|| {
            let text = message["params"]["arguments"]["text"].as_str().unwrap_or_default();
            let content = json!([{ "type": "text", "text": text.len().to_string() }]);
            let result = json!({ "content": content });
            json_answer(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        });
        if message["method"] != "initialize" {
            return answer;
        }
        let name = format!("\r\nmcp-session-id: s{}", opened.fetch_add(1, Ordering::Relaxed));
        let head = answer.windows(2).position(|pair| pair == b"\r\n").unwrap();
        [&answer[..head], name.as_bytes(), &answer[head..]].concat()
    })
}

fn open(gateway: &Gateway) -> String {
    gateway.post(&[], &initialize()).header("mcp-session-id").unwrap().to_owned()
}

fn ask(gateway: &Gateway, session: &str, arguments: &Value) -> Value {
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    gateway.post(&headers, &call(7, "echo", arguments)).json()
}

/// Opens sessions, uses each once for a bad call, and leaves them.
fn open_and_leave(gateway: &Gateway, sessions: usize, call: &Value) {
    const CLIENTS: usize = 4;
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                for _ in 0..sessions / CLIENTS {
                    let session = open(gateway);
                    assert_eq!(ask(gateway, &session, call)["result"]["isError"], true);
                }
            });
        }
    });
}

/// The memory of the gateway's own; `None` where there is no telling.
fn resident_bytes(gateway: &Gateway) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

/// By how much the gateway grows while sessions are opened and left, after so many others were.
fn growth(most: &str, before: usize, sessions: usize, call: &Value) -> Option<usize> {
    let upstream = server();
    // With a thread and an arena for each of many cores, memory takes longer to settle.
    let variables =
        [("STICKLER_MAX_SESSIONS", most), ("TOKIO_WORKER_THREADS", "2"), ("MALLOC_ARENA_MAX", "2")];
    let gateway = Gateway::launch(&["--url", &upstream.url()], &variables, false);
    open_and_leave(&gateway, before, call);
    let before = resident_bytes(&gateway)?;
    open_and_leave(&gateway, sessions, call);
    Some(resident_bytes(&gateway)?.saturating_sub(before))
}

#[test]
fn sessions_that_are_left_cost_no_memory_beyond_the_cap() {
    let short = json!({ "txt": "" });
    let Some(grown) = growth("100", 3000, 3000, &short) else {
        return println!("skipped: no /proc");
    };
    // Without the cap it would be nearly 6 MB, and more with every session.
    assert!(grown < 2 << 20, "{grown} bytes more after 3,000 more sessions");
}

#[test]
fn sessions_that_are_kept_cost_little() {
    // Much to read, and little to compare with: what reading takes is not to be kept.
    let long = json!({ "text": "", "list": vec![0; 4000] });
    let Some(grown) = growth("10000", 400, 400, &long) else {
        return println!("skipped: no /proc");
    };
    // Reading their one call took more than 64 KiB each.
    assert!(grown < 6 << 20, "{grown} bytes for 400 sessions that nobody uses");
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn is_refused(answer: &Value) -> bool {
    let help = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    answer["result"]["isError"] == true && help.contains("did you mean `text`")
}

#[test]
fn a_session_that_was_forgotten_still_works() {
    let upstream = server();
    let variables = [("STICKLER_MAX_SESSIONS", "1")];
    let gateway = Gateway::start_with(&["--url", &upstream.url()], &variables);
    let (first, second) = (open(&gateway), open(&gateway));
    for session in [&first, &second, &first, &first] {
        let headers = [("mcp-session-id", session.as_str())];
        assert_eq!(gateway.post(&headers, READY).status, 202);
        assert!(is_refused(&ask(&gateway, session, &json!({ "txt": "" }))));
        let good = ask(&gateway, session, &json!({ "text": "four" }));
        assert_eq!(good["result"]["content"][0]["text"], "4", "{good}");
    }
    assert_eq!(upstream.heads("tools/call").len(), 4, "only good calls get there");
}

#[test]
fn a_session_that_was_opened_before_the_gateway_is_checked_at_once() {
    let upstream = server();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    // Were the handshake still waited for, the call would go on unchecked in the end.
    assert_eq!(gateway.post(&[("mcp-session-id", "older")], READY).status, 202);
    assert!(is_refused(&ask(&gateway, "older", &json!({ "txt": "" }))));
    assert!(upstream.heads("tools/call").is_empty());
}

#[test]
fn tools_that_were_forgotten_with_their_authorization_are_asked_for_again() {
    let upstream = server();
    let variables = [("STICKLER_MAX_SESSIONS", "1")];
    let gateway = Gateway::start_with(&["--url", &upstream.url()], &variables);
    for (asked, user) in ["one", "two", "two", "one"].into_iter().enumerate() {
        let headers = [
            ("mcp-session-id", user),
            ("mcp-protocol-version", "2025-11-25"),
            ("authorization", user),
        ];
        let answer = gateway.post(&headers, &call(7, "echo", &json!({ "txt": "" }))).json();
        assert!(is_refused(&answer), "{answer}");
        let lists = [1, 2, 2, 3][asked];
        assert_eq!(upstream.heads("tools/list").len(), lists, "after call {asked}");
    }
}

fn in_session(name: &str) -> [(&str, &str); 2] {
    [("mcp-session-id", name), ("mcp-protocol-version", "2025-11-25")]
}

#[test]
fn a_stream_answers_for_its_session_however_many_came_since() {
    let upstream = Upstream::start(|message| match message {
        // Stays open.
        Value::Null => {
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: open\n\n".to_vec()
        }
        _ => usual(message).unwrap_or_else(accepted),
    });
    let gateway = Gateway::start(&["--strict", "--url", &upstream.url()]);
    let mut stream = gateway.open("GET", "/mcp", &in_session("first"), "");
    assert_eq!(stream.line(": ").as_deref(), Some(": open"));
    for number in 0..100 {
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(gateway.post(&in_session(&number.to_string()), ready).status, 202);
    }
    upstream.say(&json!({
        "jsonrpc": "2.0", "id": "refused", "method": "sampling/createMessage", "params": {},
    }));
    upstream.wait_for("refused");
    let seen = upstream.seen.lock().unwrap();
    let (head, answer) = seen.last().unwrap();
    assert!(answer.contains("error"), "{answer}");
    assert!(head.to_ascii_lowercase().contains("mcp-session-id: first"), "{head}");
}
