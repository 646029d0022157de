//! The gateway over HTTP in front of a command, with real processes and sockets.

use std::time::{Duration, Instant};

use crate::support::http::{Gateway, call, initialize};
use crate::support::server_log::ServerLog;
use serde_json::{Value, json};

#[test]
fn invalid_call_is_rejected_with_help_and_valid_call_is_forwarded() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let invalid = gateway.post(&headers, &call(1, "echo", &json!({ "txt": "hi" })));
    assert_eq!(invalid.status, 200);
    let response = invalid.json();
    assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(1), &json!(true)));
    let help = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("Tool call failed for: echo") && help.contains("`text`"), "{help}");
    let valid = gateway.post(&headers, &call("b", "echo", &json!({ "text": "hi" })));
    assert_eq!(valid.header("content-type"), Some("application/json"));
    assert_eq!(valid.json()["result"]["content"][0]["text"], "hi");
    // Line breaks in a body must be removed before it is written to stdio.
    let spread = call(3, "echo", &json!({ "text": "a\nb" })).replace(',', ",\r\n");
    assert_eq!(gateway.post(&headers, &spread).json()["result"]["content"][0]["text"], "a\nb");
}

#[test]
fn sessions_with_equal_request_ids_get_their_own_responses() {
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
                    let response = gateway.post(&[("mcp-session-id", session)], &body).json();
                    assert_eq!(response["id"], id);
                    assert_eq!(response["result"]["content"][0]["text"], text.as_str());
                }
            });
        }
    });
}

#[test]
fn deleted_session_is_not_found() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 200);
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let response = gateway.post(&headers, ping);
    assert_eq!((response.status, &response.json()["id"]), (404, &json!(5)));
    assert_eq!(gateway.open("DELETE", "/mcp", &headers, "").finish().status, 404);
    assert_eq!(gateway.post(&[], ping).status, 400, "only `initialize` opens a session");
}

#[test]
fn notifications_before_the_response_turn_it_into_a_stream() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut body: Value =
        serde_json::from_str(&call(1, "notify", &json!({ "text": "t" }))).unwrap();
    body["params"]["_meta"] = json!({ "progressToken": "p" });
    let response = gateway.post(&headers, &body.to_string());
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    let events = response.events();
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(events[0]["params"]["progressToken"], "p");
    assert_eq!(events[1]["method"], "notifications/message");
    assert_eq!(events[2]["id"], 1);
    // A request from the server, and the client's response to it.
    let events = gateway.post(&headers, &call(2, "ask", &json!({ "text": "" }))).events();
    assert_eq!((&events[0]["method"], &events[1]["id"]), (&json!("ping"), &json!(2)));
    let pong = r#"{"jsonrpc":"2.0","id":"from-server","result":{}}"#;
    assert_eq!(gateway.post(&headers, pong).status, 202);
}

#[test]
fn get_stream_receives_messages_unrelated_to_a_request() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    let response = gateway.post(&headers, &call(1, "later", &json!({ "text": "now" })));
    assert_eq!(
        response.json()["result"]["content"][0]["text"],
        "now",
        "the response is not a stream"
    );
    assert_eq!(stream.event().unwrap()["params"]["data"], "later");
    let rejected = gateway.open("GET", "/mcp", &[], "").finish();
    assert_eq!(rejected.status, 405);
    assert!(rejected.text().contains("HTTP+SSE transport of 2024-11-05"), "{}", rejected.text());
    assert_eq!(gateway.open("GET", "/sse", &[], "").finish().status, 404);
}

#[test]
fn server_exit_fails_the_pending_requests_of_its_session() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            gateway.post(&headers, &call(1, "slow", &json!({ "text": "", "millis": 9000 })))
        });
        server_log.wait_for("\"slow\"");
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
fn max_children_limits_the_number_of_sessions() {
    let gateway = Gateway::scripted(&["--max-children", "2"]);
    let (first, second) = (gateway.session(), gateway.session());
    let listen = |session: &str| {
        let accept = ("accept", "text/event-stream");
        gateway.open("GET", "/mcp", &[("mcp-session-id", session), accept], "")
    };
    let streams = [listen(&first), listen(&second)];
    assert!(streams.iter().all(|stream| stream.status == 200));
    let rejected = gateway.post(&[], &initialize());
    assert_eq!((rejected.status, &rejected.json()["id"]), (503, &json!(0)));
    let headers = [("mcp-session-id", first.as_str())];
    gateway.open("DELETE", "/mcp", &headers, "").finish();
    let deadline = Instant::now() + Duration::from_secs(10);
    while gateway.post(&[], &initialize()).status != 200 {
        assert!(Instant::now() < deadline, "the slot of the deleted session is not free");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn new_session_takes_the_place_of_the_one_that_was_idle_for_the_longest_time() {
    let gateway = Gateway::scripted(&["--max-children", "2"]);
    let (first, second) = (gateway.session(), gateway.session());
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let status = |session: &str| gateway.post(&[("mcp-session-id", session)], ping).status;
    assert_eq!(status(&first), 200);
    let third = gateway.session();
    assert_eq!((status(&first), status(&second), status(&third)), (200, 404, 200));
    // Clients that never delete their sessions lock no other client out.
    for _ in 0..5 {
        gateway.session();
    }
}

#[test]
fn session_in_use_is_not_closed_for_another_one_and_modern_requests_are_still_served() {
    let gateway = Gateway::scripted(&["--max-children", "1"]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("accept", "text/event-stream")];
    let stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!(stream.status, 200);
    assert_eq!(gateway.post(&[], &initialize()).status, 503);
    let modern = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    assert_eq!(gateway.post(&modern, &request.to_string()).status, 200);
    assert_eq!(
        gateway.post(&headers[..1], r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).status,
        200
    );
}

#[test]
fn idle_sessions_are_closed() {
    let gateway = Gateway::scripted(&["--idle-timeout", "1"]);
    let session = gateway.session();
    let deadline = Instant::now() + Duration::from_secs(20);
    while gateway.children() > 0 {
        assert!(Instant::now() < deadline, "the server of the idle session is still running");
        std::thread::sleep(Duration::from_millis(50));
    }
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(gateway.post(&headers, r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).status, 404);
}

#[test]
fn foreign_origins_and_missing_tokens_are_rejected() {
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
fn malformed_and_oversized_bodies_do_not_affect_the_session() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let malformed = gateway.post(&headers, "{\"jsonrpc\":");
    assert_eq!((malformed.status, malformed.json()["error"]["code"].clone()), (400, json!(-32700)));
    let large = call(9, "echo", &json!({ "text": "x".repeat(17 << 20) }));
    let response = gateway.post(&headers, &large);
    assert_eq!(response.status, 413);
    assert!(response.text().contains("too-large"), "{}", response.text());
    let valid = gateway.post(&headers, &call(10, "echo", &json!({ "text": "hi" })));
    assert_eq!(valid.json()["id"], 10);
}

#[test]
fn request_reusing_a_pending_id_is_rejected() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let slow = call(1, "slow", &json!({ "text": "first", "millis": 3000 }));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gateway.post(&headers, &slow).json());
        server_log.wait_for("\"slow\"");
        let second = gateway.post(&headers, &slow);
        assert_eq!((second.status, second.json().get("id").cloned()), (400, None));
        assert_eq!(first.join().unwrap()["result"]["content"][0]["text"], "first");
    });
}

#[test]
fn cancelled_request_ends_without_a_response() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let slow = call(1, "slow", &json!({ "text": "", "millis": 5000 }));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| gateway.post(&headers, &slow));
        server_log.wait_for("\"slow\"");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(gateway.post(&headers, cancel).status, 202);
        assert_eq!(waiting.join().unwrap().events(), Vec::<Value>::new());
    });
}

#[test]
fn shutdown_answers_pending_requests() {
    let (gateway, server_log) = ServerLog::with_gateway();
    let session = gateway.session();
    let port = gateway.port;
    let waiting = std::thread::spawn(move || {
        let headers = [("mcp-session-id", session.as_str())];
        let slow = call(1, "slow", &json!({ "text": "", "millis": 9000 }));
        crate::support::http::request(port, "POST", "/mcp", &headers, &slow).finish().json()
    });
    server_log.wait_for("\"slow\"");
    assert_eq!(gateway.end(), 0);
    let response = waiting.join().unwrap();
    assert_eq!(response["id"], 1);
    assert!(response["error"]["message"].is_string(), "{response}");
}

#[test]
fn aborted_client_connections_do_not_affect_the_session() {
    let gateway = Gateway::scripted(&[]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    drop(gateway.open("GET", "/mcp", &headers, ""));
    for id in 0..5 {
        let body = call(id, "slow", &json!({ "text": "", "millis": 300 }));
        crate::support::http::send(gateway.port, &headers, &body);
    }
    let response = gateway.post(&headers, &call(99, "echo", &json!({ "text": "still" }))).json();
    assert_eq!(response["result"]["content"][0]["text"], "still");
}

/// Whether a session slot becomes free within 20 seconds.
fn has_free_slot(gateway: &Gateway) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        gateway.post(&[], &initialize()).status == 200
    })
}

#[test]
fn handshake_rejected_by_the_server_keeps_no_process() {
    let server = crate::support::http::scripted_server();
    let server = server.to_str().unwrap();
    let gateway = Gateway::start(&["--max-children", "1", "--", server, "--mode", "modern"]);
    for _ in 0..3 {
        // The previous slot is free as soon as its server has exited.
        let deadline = Instant::now() + Duration::from_secs(20);
        let rejected = loop {
            let response = gateway.post(&[], &initialize());
            if response.status != 503 {
                break response;
            }
            assert!(Instant::now() < deadline, "the rejected handshake keeps its server");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(rejected.json()["error"]["code"], -32022, "{rejected:?}");
        assert_eq!(rejected.header("mcp-session-id"), None);
    }
}

#[test]
fn handshake_rejected_by_the_gateway_keeps_no_process() {
    let gateway = Gateway::scripted(&["--max-children", "1"]);
    let invalid = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":7}"#;
    let rejected = gateway.post(&[], invalid);
    assert!(rejected.json()["error"].is_object(), "{rejected:?}");
    assert_eq!(rejected.header("mcp-session-id"), None);
    assert!(has_free_slot(&gateway), "the rejected handshake keeps its server");
}

#[test]
fn client_disconnect_during_the_handshake_keeps_no_process() {
    // The first server never responds, the next one works.
    let marker = std::env::temp_dir().join(format!("stickler-disconnect-{}", std::process::id()));
    let script = format!(
        "if [ -e '{0}' ]; then exec '{1}'; fi; : > '{0}'; while read -r line; do :; done",
        marker.display(),
        crate::support::http::scripted_server().display()
    );
    let gateway = Gateway::start(&["--max-children", "1", "--", "sh", "-c", &script]);
    let kinds =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    crate::support::http::send(gateway.port, &kinds, &initialize());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !marker.exists() {
        assert!(Instant::now() < deadline, "the first server was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let has_free_slot = has_free_slot(&gateway);
    let _ = std::fs::remove_file(marker);
    assert!(has_free_slot, "the disconnected client keeps a server");
}
