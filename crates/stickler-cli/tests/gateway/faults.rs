//! Misbehaving peers and high load: no message is lost or misrouted, and memory is bounded.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::http::{call, child_pids, is_running, scripted_server};
use crate::support::stdio::Gateway;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Length of the text in each message of the slow reader test.
const TEXT_BYTES: usize = 256 << 10;

fn gateway(options: &[&str], mode: &str) -> Gateway {
    let server = scripted_server().to_string_lossy().into_owned();
    let mut arguments = options.to_vec();
    arguments.extend(["--", &server]);
    if !mode.is_empty() {
        arguments.extend(["--mode", mode]);
    }
    Gateway::start(&arguments)
}

fn text_of(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn thousand_concurrent_calls_get_their_matching_responses() {
    let mut gateway = gateway(&[], "");
    gateway.handshake();
    for id in 0..1000 {
        // Every third call is slow, so that responses arrive out of order; every tenth is invalid.
        let tool = if id % 3 == 0 { "slow" } else { "echo" };
        let arguments = match id % 10 {
            0 => json!({ "txt": id.to_string() }),
            _ => json!({ "text": id.to_string(), "millis": 20 }),
        };
        gateway.send_call(id, tool, &arguments);
    }
    let mut responses = HashMap::new();
    while responses.len() < 1000 {
        let response = gateway.receive();
        let id = response["id"].as_u64().unwrap();
        assert!(responses.insert(id, response).is_none(), "{id} was answered twice");
    }
    for (id, response) in &responses {
        if id % 10 == 0 {
            assert_eq!(response["result"]["isError"], true, "{response}");
        } else {
            assert_eq!(text_of(response), id.to_string());
        }
    }
    let exit = gateway.end();
    assert_eq!((exit.status, exit.stdout.as_str()), (0, ""));
}

#[test]
fn all_calls_held_for_the_tool_list_are_forwarded() {
    const CALLS: u32 = 3000;
    let mut gateway = gateway(&[], "");
    let mut messages =
        vec![json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    } })];
    messages.push(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    messages.extend((0..CALLS).map(|id| {
        let params = json!({ "name": "echo", "arguments": { "text": id.to_string() } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    }));
    let all: Vec<String> = messages.iter().map(Value::to_string).collect();
    let writer = gateway.write_in_background(all.into_iter());
    assert_eq!(gateway.receive()["id"], "init");
    let mut ids = std::collections::HashSet::new();
    for _ in 0..CALLS {
        let response = gateway.receive();
        let id = response["id"].as_u64().unwrap_or_else(|| panic!("{response}"));
        assert_eq!(text_of(&response), id.to_string(), "{response}");
        assert_eq!(response["result"].get("isError"), None, "{response}");
        assert!(ids.insert(id), "{id} was answered twice");
    }
    writer.finish(&mut gateway);
    let exit = gateway.end();
    assert_eq!((exit.status, exit.stdout.as_str()), (0, ""));
}

#[test]
fn slow_reader_causes_backpressure_without_loss_or_memory_growth() {
    let mut gateway = gateway(&[], "");
    gateway.handshake();
    gateway.call(0, "echo", &json!({ "text": "fetches the tool list" }));
    let before = gateway.resident_bytes();
    // The client requests 20 MB without reading, so the writer must block.
    let writer = gateway.write_in_background((1..=80).map(|id| {
        let arguments = json!({ "text": "x".repeat(TEXT_BYTES) });
        call(id, "echo", &arguments)
    }));
    crate::support::stdio::wait_until("the pipes are full", || writer.is_blocked());
    let grown = gateway.resident_bytes().saturating_sub(before);
    assert!(grown < 10 << 20, "{grown} bytes are buffered for a client that does not read");
    for id in 1..=80 {
        let response = gateway.receive();
        assert_eq!((&response["id"], text_of(&response).len()), (&json!(id), TEXT_BYTES));
    }
    writer.finish(&mut gateway);
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn notification_flood_is_forwarded_and_interleaved_noise_is_dropped() {
    let mut gateway = gateway(&["--log", "off"], "flood");
    gateway.handshake();
    gateway.send_call(1, "echo", &json!({ "text": "after the flood" }));
    let mut expected = 0;
    let response = loop {
        let message = gateway.receive();
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["params"]["data"], expected);
        expected += 1;
    };
    assert_eq!(expected, 10_000);
    assert_eq!(text_of(&response), "after the flood");
    assert!(gateway.resident_bytes() < 200 << 20);
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn incomplete_message_does_not_block_responses() {
    let mut gateway = gateway(&[], "");
    gateway.handshake();
    gateway.send_call(1, "slow", &json!({ "text": "first", "millis": 200 }));
    let second = call(2, "echo", &json!({ "text": "second" }));
    let (half, rest) = second.split_at(second.len() / 2);
    gateway.write_raw(half);
    assert_eq!(text_of(&gateway.receive()), "first");
    gateway.write_raw(&format!("{rest}\n"));
    assert_eq!(text_of(&gateway.receive()), "second");
    // A message without a newline at the end of the input is not an error.
    gateway.write_raw("{\"jsonrpc\":\"2.0\",\"id\":3,\"meth");
    let end = gateway.end();
    assert_eq!(end.status, 0, "{}", end.stderr);
}

#[test]
fn unpaired_responses_are_dropped() {
    let mut gateway = gateway(&["--strict"], "duplicate-responses");
    gateway.handshake();
    for id in 1..=20 {
        let response = gateway.call(id, "echo", &json!({ "text": id.to_string() }));
        assert_eq!((&response["id"], text_of(&response)), (&json!(id), id.to_string().as_str()));
    }
    let end = gateway.end();
    assert_eq!(end.status, 0);
    // The log has the first lines of a kind, and the number of the others.
    let dropped = "WARN scripted_server: message from the server dropped: [unpaired-response]";
    assert_eq!(end.stderr.matches(dropped).count(), 20, "{}", end.stderr);
    assert!(end.stderr.contains("suppressed 20 similar lines: "), "{}", end.stderr);
}

#[test]
fn held_call_is_forwarded_after_the_client_closes_stdin() {
    let server = scripted_server().to_string_lossy().into_owned();
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--", &server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let initialize = crate::support::http::initialize();
    let input = format!("{initialize}\n{ready}\n{}\n", call(7, "echo", &json!({ "text": "last" })));
    gateway.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = gateway.wait_with_output().unwrap();
    let responses = String::from_utf8(output.stdout).unwrap();
    let response: Value = serde_json::from_str(responses.lines().last().unwrap()).unwrap();
    assert_eq!((&response["id"], text_of(&response)), (&json!(7), "last"));
}

#[test]
fn server_ignoring_sigterm_is_killed_after_the_grace_period() {
    let script = "trap '' TERM INT; echo ready >&2; while :; do sleep 0.1; done";
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", "1", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(gateway.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    assert!(line.ends_with("stderr: ready\n"), "the server does not ignore signals yet: {line}");
    let servers = child_pids(gateway.id());
    assert_eq!(servers.len(), 1);
    let signalled = Instant::now();
    kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
    let gateway = std::cell::RefCell::new(&mut gateway);
    crate::support::stdio::wait_until("the gateway has exited", || {
        gateway.borrow_mut().try_wait().unwrap().is_some()
    });
    assert!(signalled.elapsed() >= Duration::from_secs(1), "the grace period has passed");
    assert!(!is_running(servers[0]), "the server is killed");
}

#[test]
fn unresponsive_url_does_not_block_shutdown() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    for by_signal in [true, false] {
        let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .args(["run", "--grace", "0", "--url", &url])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = gateway.stdin.take().unwrap();
        writeln!(stdin, "{}", crate::support::http::initialize()).unwrap();
        // The gateway has connected and waits for the response.
        let (_connection, _) = silent.accept().unwrap();
        let open_stdin = by_signal.then_some(stdin);
        if open_stdin.is_some() {
            kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
        }
        let gateway = std::cell::RefCell::new(&mut gateway);
        crate::support::stdio::wait_until("the gateway has exited", || {
            gateway.borrow_mut().try_wait().unwrap().is_some()
        });
    }
}

#[test]
fn malformed_client_input_is_answered_and_the_next_call_succeeds() {
    let mut gateway = gateway(&[], "");
    gateway.handshake();
    for (line, code) in [
        ("\u{0}\u{1}binary", -32700),
        ("{\"jsonrpc\":", -32700),
        ("[1,2", -32700),
        ("\"text\"", -32600),
        ("{]", -32700),
    ] {
        gateway.write_raw(&format!("{line}\n"));
        let response = gateway.receive();
        assert!(response.get("id").is_none(), "{response}");
        assert_eq!(response["error"]["code"], code, "{line:?}: {response}");
    }
    let response = gateway.call(9, "echo", &json!({ "text": "still here" }));
    assert_eq!(text_of(&response), "still here");
}

#[test]
fn deleted_sessions_leave_no_process_and_free_their_slot() {
    let gateway = crate::support::http::Gateway::scripted(&["--max-children", "4"]);
    for _ in 0..200 {
        // The server of a deleted session may still be shutting down.
        crate::support::stdio::wait_until("a slot is free", || gateway.children() < 2);
        let session = gateway.session();
        let headers = [("mcp-session-id", session.as_str())];
        let response = crate::support::http::request(gateway.port, "DELETE", "/mcp", &headers, "");
        assert_eq!(response.status, 200);
    }
    crate::support::stdio::wait_until("the servers have exited", || gateway.children() == 0);
    // The limit applies to open sessions; deleting one frees its slot.
    let sessions: Vec<String> = (0..4).map(|_| gateway.session()).collect();
    let listen = |session: &String| {
        let headers = [("mcp-session-id", session.as_str()), ("accept", "text/event-stream")];
        gateway.open("GET", "/mcp", &headers, "")
    };
    let streams: Vec<_> = sessions.iter().map(listen).collect();
    assert!(streams.iter().all(|stream| stream.status == 200));
    let rejected = gateway.post(&[], &crate::support::http::initialize());
    assert_eq!(rejected.status, 503, "{}", rejected.text());
    let headers = [("mcp-session-id", sessions[0].as_str())];
    crate::support::http::request(gateway.port, "DELETE", "/mcp", &headers, "");
    crate::support::stdio::wait_until("a slot is free", || {
        gateway.post(&[], &crate::support::http::initialize()).status == 200
    });
    gateway.end();
}
