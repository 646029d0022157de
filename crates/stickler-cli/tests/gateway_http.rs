//! The gateway over HTTP, with real processes and real sockets: in front of a command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod heard;
    pub(crate) mod http;
}

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::heard::Heard;
use support::http::{Gateway, call, initialize};

#[test]
fn a_bad_call_is_refused_with_help_and_a_good_one_passes() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let bad = gateway.post(&headers, &call(1, "echo", &json!({ "txt": "hi" })));
    assert_eq!(bad.status, 200);
    let answer = bad.json();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)));
    let help = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("Tool call failed for: echo") && help.contains("`text`"), "{help}");
    let good = gateway.post(&headers, &call("b", "echo", &json!({ "text": "hi" })));
    assert_eq!(good.header("content-type"), Some("application/json"));
    assert_eq!(good.json()["result"]["content"][0]["text"], "hi");
    // A body may have line breaks; the line that it becomes may not.
    let spread = call(3, "echo", &json!({ "text": "a\nb" })).replace(',', ",\r\n");
    assert_eq!(gateway.post(&headers, &spread).json()["result"]["content"][0]["text"], "a\nb");
}

#[test]
fn clients_with_the_same_ids_are_not_crossed() {
    let gateway = Gateway::scripted(&[]);
    let sessions: Vec<String> = (0..4).map(|_| gateway.session()).collect();
    assert!(sessions.iter().all(|one| one.len() == 32));
    std::thread::scope(|scope| {
        for (client, session) in sessions.iter().enumerate() {
            let gateway = &gateway;
            scope.spawn(move || {
                for id in 0..20 {
                    let text = format!("{client}/{id}");
                    let arguments = json!({ "text": text, "millis": 5 });
                    let body = call(id, if id % 2 == 0 { "slow" } else { "echo" }, &arguments);
                    let answer = gateway.post(&[("mcp-session-id", session)], &body).json();
                    assert_eq!(answer["id"], id);
                    assert_eq!(answer["result"]["content"][0]["text"], text.as_str());
                }
            });
        }
    });
}

#[test]
fn a_session_that_was_deleted_is_gone() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 200);
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let answer = gateway.post(&headers, ping);
    assert_eq!((answer.status, &answer.json()["id"]), (404, &json!(5)));
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 404);
    assert_eq!(gateway.post(&[], ping).status, 400, "only `initialize` opens a session");
}

#[test]
fn messages_before_the_answer_make_the_answer_a_stream() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut body: Value =
        serde_json::from_str(&call(1, "notify", &json!({ "text": "t" }))).unwrap();
    body["params"]["_meta"] = json!({ "progressToken": "p" });
    let answer = gateway.post(&headers, &body.to_string());
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let events = answer.events();
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(events[0]["params"]["progressToken"], "p");
    assert_eq!(events[1]["method"], "notifications/message");
    assert_eq!(events[2]["id"], 1);
    // A request of the server's, and the client's answer to it.
    let events = gateway.post(&headers, &call(2, "ask", &json!({ "text": "" }))).events();
    assert_eq!((&events[0]["method"], &events[1]["id"]), (&json!("ping"), &json!(2)));
    let pong = r#"{"jsonrpc":"2.0","id":"from-server","result":{}}"#;
    assert_eq!(gateway.post(&headers, pong).status, 202);
}

#[test]
fn a_get_stream_takes_what_belongs_to_no_request() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    let answer = gateway.post(&headers, &call(1, "later", &json!({ "text": "now" })));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "now", "it is alone");
    assert_eq!(stream.event().unwrap()["params"]["data"], "later");
    let refused = gateway.open("GET", "/mcp", &[], "").finish();
    assert_eq!(refused.status, 405);
    assert!(refused.text().contains("HTTP+SSE transport of 2024-11-05"), "{}", refused.text());
    assert_eq!(gateway.open("GET", "/sse", &[], "").finish().status, 404);
}

#[test]
fn the_death_of_a_server_is_an_answer() {
    let (gateway, heard) = Heard::behind_a_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            gateway.post(&headers, &call(1, "slow", &json!({ "text": "", "millis": 9000 })))
        });
        heard.wait_for("\"slow\"");
        let died = gateway.post(&headers, &call(2, "die", &json!({ "text": "" }))).json();
        assert!(died["error"]["message"].as_str().unwrap().contains("STK-105"), "{died}");
        assert_eq!(died["id"], 2);
        let waited = waiting.join().unwrap().json();
        assert_eq!(waited["id"], 1);
        assert!(waited["error"]["message"].as_str().unwrap().contains("exit status: 7"));
    });
    assert_eq!(gateway.post(&headers, &call(3, "echo", &json!({ "text": "" }))).status, 404);
}

#[test]
fn there_are_only_so_many_children() {
    let gateway = Gateway::scripted(&["--max-children", "2"]);
    let first = gateway.session();
    gateway.session();
    let refused = gateway.post(&[], &initialize());
    assert_eq!((refused.status, &refused.json()["id"]), (503, &json!(0)));
    let headers = [("mcp-session-id", first.as_str())];
    gateway.open("DELETE", "/mcp", &headers, "").finish();
    let deadline = Instant::now() + Duration::from_secs(10);
    while gateway.post(&[], &initialize()).status != 200 {
        assert!(Instant::now() < deadline, "the place of a deleted session is free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn idle_sessions_are_closed() {
    let gateway = Gateway::scripted(&["--idle-timeout", "1"]);
    let session = gateway.session();
    let deadline = Instant::now() + Duration::from_secs(20);
    while gateway.children() > 0 {
        assert!(Instant::now() < deadline, "the server of an idle session is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(gateway.post(&headers, r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).status, 404);
}

#[test]
fn strangers_are_turned_away() {
    let gateway = Gateway::scripted(&[
        "--allow-origin",
        "https://app.example",
        "--bearer-token-env",
        "STICKLER_TEST_TOKEN",
    ]);
    let token = ("authorization", "Bearer secret");
    let status = |headers: &[(&str, &str)]| gateway.post(headers, &initialize()).status;
    assert_eq!(status(&[token, ("origin", "https://evil.example")]), 403);
    assert_eq!(status(&[token, ("origin", "http://localhost.evil.example")]), 403);
    assert_eq!(status(&[token, ("origin", "null")]), 403);
    assert_eq!(status(&[token, ("origin", "https://app.example")]), 200);
    assert_eq!(status(&[token, ("origin", "http://localhost:3000")]), 200);
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("authorization", "Bearer wrong!")]), 401);
    let health = gateway.open("GET", "/healthz", &[], "").finish();
    assert_eq!((health.status, health.json()["status"].clone()), (200, json!("ok")));
    assert_eq!(gateway.open("GET", "/other", &[token], "").finish().status, 404);
}

#[test]
fn bodies_that_are_no_messages_do_not_hurt() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let noise = gateway.post(&headers, "{\"jsonrpc\":");
    assert_eq!((noise.status, noise.json()["error"]["code"].clone()), (400, json!(-32700)));
    let large = call(9, "echo", &json!({ "text": "x".repeat(17 << 20) }));
    let answer = gateway.post(&headers, &large);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("too-large"), "{}", answer.text());
    let good = gateway.post(&headers, &call(10, "echo", &json!({ "text": "hi" })));
    assert_eq!(good.json()["id"], 10);
}

#[test]
fn an_id_in_flight_is_not_answered_twice() {
    let (gateway, heard) = Heard::behind_a_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let slow = call(1, "slow", &json!({ "text": "first", "millis": 3000 }));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &slow).json());
        heard.wait_for("\"slow\"");
        let second = gateway.post(&headers, &slow);
        assert_eq!((second.status, second.json().get("id").cloned()), (400, None));
        assert_eq!(first.join().unwrap()["result"]["content"][0]["text"], "first");
    });
}

#[test]
fn a_cancelled_request_ends_without_an_answer() {
    let (gateway, heard) = Heard::behind_a_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let slow = call(1, "slow", &json!({ "text": "", "millis": 5000 }));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| gateway.post(&headers, &slow));
        heard.wait_for("\"slow\"");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(gateway.post(&headers, cancel).status, 202);
        assert_eq!(waiting.join().unwrap().events(), Vec::<Value>::new());
    });
}

#[test]
fn shutting_down_answers_what_is_in_flight() {
    let (gateway, heard) = Heard::behind_a_gateway();
    let session = gateway.session();
    let port = gateway.port;
    let waiting = std::thread::spawn(move || {
        let headers = [("mcp-session-id", session.as_str())];
        let slow = call(1, "slow", &json!({ "text": "", "millis": 9000 }));
        support::http::request(port, "POST", "/mcp", &headers, &slow).finish().json()
    });
    heard.wait_for("\"slow\"");
    assert_eq!(gateway.end(), 0);
    let answer = waiting.join().unwrap();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].is_string(), "{answer}");
}

#[test]
fn a_client_that_breaks_off_harms_nobody() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    drop(gateway.open("GET", "/mcp", &headers, ""));
    for id in 0..5 {
        let body = call(id, "slow", &json!({ "text": "", "millis": 300 }));
        support::http::send(gateway.port, &headers, &body);
    }
    let answer = gateway.post(&headers, &call(99, "echo", &json!({ "text": "still" }))).json();
    assert_eq!(answer["result"]["content"][0]["text"], "still");
}

/// Whether there is room for a session, at once or soon.
fn has_room(gateway: &Gateway) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        gateway.post(&[], &initialize()).status == 200
    })
}

#[test]
fn a_handshake_that_is_refused_keeps_no_server() {
    let server = support::http::scripted_server();
    let server = server.to_str().unwrap();
    let gateway = Gateway::start(&["--max-children", "1", "--", server, "--mode", "modern"]);
    for _ in 0..3 {
        // The place of the one before is free as soon as its server is gone.
        let deadline = Instant::now() + Duration::from_secs(20);
        let refused = loop {
            let answer = gateway.post(&[], &initialize());
            if answer.status != 503 {
                break answer;
            }
            assert!(Instant::now() < deadline, "the refused handshake keeps its server");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(refused.json()["error"]["code"], -32022, "{refused:?}");
        assert_eq!(refused.header("mcp-session-id"), None);
    }
}

#[test]
fn a_handshake_that_the_gateway_refuses_keeps_no_server() {
    let gateway = Gateway::scripted(&["--max-children", "1"]);
    let bad = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":7}"#;
    let refused = gateway.post(&[], bad);
    assert!(refused.json()["error"].is_object(), "{refused:?}");
    assert_eq!(refused.header("mcp-session-id"), None);
    assert!(has_room(&gateway), "the refused handshake keeps its server");
}

#[test]
fn a_client_that_leaves_before_its_session_is_open_keeps_no_server() {
    // The first server is one that says nothing, the next one is as it should be.
    let mark = std::env::temp_dir().join(format!("stickler-leaves-{}", std::process::id()));
    let script = format!(
        "if [ -e '{0}' ]; then exec '{1}'; fi; : > '{0}'; while read -r line; do :; done",
        mark.display(),
        support::http::scripted_server().display()
    );
    let gateway = Gateway::start(&["--max-children", "1", "--", "sh", "-c", &script]);
    let kinds =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    support::http::send(gateway.port, &kinds, &initialize());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !mark.exists() {
        assert!(Instant::now() < deadline, "the first server was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let has_room = has_room(&gateway);
    let _ = std::fs::remove_file(mark);
    assert!(has_room, "a client that left keeps a server");
}
