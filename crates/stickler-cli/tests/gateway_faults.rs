//! Peers that misbehave and peers that are many: nothing is lost, nothing crosses, memory is bounded.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod stdio;
}

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::http::{call, children_of, scripted_server};
use support::stdio::Gateway;

/// Of the text in one message of the slow reader's.
const LENGTH: usize = 256 << 10;

fn gateway(options: &[&str], mode: &str) -> Gateway {
    let server = scripted_server().to_string_lossy().into_owned();
    let mut arguments = options.to_vec();
    arguments.extend(["--", &server]);
    if !mode.is_empty() {
        arguments.extend(["--mode", mode]);
    }
    Gateway::start(&arguments)
}

fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_thousand_requests_at_once_get_a_thousand_answers_each_its_own() {
    let mut gateway = gateway(&[], "");
    gateway.shake_hands();
    for id in 0..1000 {
        // Every third is slow, so that answers come out of order, and every tenth is bad.
        let tool = if id % 3 == 0 { "slow" } else { "echo" };
        let arguments = match id % 10 {
            0 => json!({ "txt": id.to_string() }),
            _ => json!({ "text": id.to_string(), "millis": 20 }),
        };
        gateway.send_call(id, tool, &arguments);
    }
    let mut answers = HashMap::new();
    while answers.len() < 1000 {
        let answer = gateway.receive();
        let id = answer["id"].as_u64().unwrap();
        assert!(answers.insert(id, answer).is_none(), "{id} was answered twice");
    }
    for (id, answer) in &answers {
        if id % 10 == 0 {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
        } else {
            assert_eq!(text_of(answer), id.to_string());
        }
    }
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn however_many_calls_wait_for_the_tools_all_of_them_are_made() {
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
    let answered: Vec<u64> =
        (0..CALLS).map(|_| gateway.receive()["id"].as_u64().unwrap()).collect();
    let different: std::collections::HashSet<u64> = answered.iter().copied().collect();
    assert_eq!(different.len(), answered.len());
    writer.finish(&mut gateway);
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn a_reader_that_takes_its_time_loses_nothing_and_costs_no_memory() {
    let mut gateway = gateway(&[], "");
    gateway.shake_hands();
    gateway.call(0, "echo", &json!({ "text": "the tools are known now" }));
    let before = gateway.resident_bytes();
    // Twenty megabytes are asked for while nobody reads: whoever writes has to wait.
    let writer = gateway.write_in_background((1..=80).map(|id| {
        let arguments = json!({ "text": "x".repeat(LENGTH) });
        call(id, "echo", &arguments)
    }));
    support::stdio::until("the pipes are full", || writer.is_stuck());
    let grown = gateway.resident_bytes().saturating_sub(before);
    assert!(grown < 10 << 20, "{grown} bytes are kept for a client that does not read");
    for id in 1..=80 {
        let answer = gateway.receive();
        assert_eq!((&answer["id"], text_of(&answer).len()), (&json!(id), LENGTH));
    }
    writer.finish(&mut gateway);
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn a_server_that_floods_is_passed_on_in_full_and_its_noise_is_not() {
    let mut gateway = gateway(&["--log", "off"], "flood");
    gateway.shake_hands();
    gateway.send_call(1, "echo", &json!({ "text": "after the flood" }));
    let mut expected = 0;
    let answer = loop {
        let message = gateway.receive();
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["params"]["data"], expected);
        expected += 1;
    };
    assert_eq!(expected, 10_000);
    assert_eq!(text_of(&answer), "after the flood");
    assert!(gateway.resident_bytes() < 200 << 20);
    assert_eq!(gateway.end().status, 0);
}

#[test]
fn half_a_message_holds_nothing_else_up() {
    let mut gateway = gateway(&[], "");
    gateway.shake_hands();
    gateway.send_call(1, "slow", &json!({ "text": "first", "millis": 200 }));
    let second = call(2, "echo", &json!({ "text": "second" }));
    let (half, rest) = second.split_at(second.len() / 2);
    gateway.write_raw(half);
    assert_eq!(text_of(&gateway.receive()), "first");
    gateway.write_raw(&format!("{rest}\n"));
    assert_eq!(text_of(&gateway.receive()), "second");
    // One that is never finished is told apart from one that is.
    gateway.write_raw("{\"jsonrpc\":\"2.0\",\"id\":3,\"meth");
    let end = gateway.end();
    assert_eq!(end.status, 0, "{}", end.stderr);
}

#[test]
fn answers_that_nobody_asked_for_do_not_count() {
    let mut gateway = gateway(&["--strict"], "twice");
    gateway.shake_hands();
    for id in 1..=20 {
        let answer = gateway.call(id, "echo", &json!({ "text": id.to_string() }));
        assert_eq!((&answer["id"], text_of(&answer)), (&json!(id), id.to_string().as_str()));
    }
    let end = gateway.end();
    assert_eq!(end.status, 0);
    // The log has the first lines of a kind, and the number of the others.
    let dropped = "WARN scripted_server: message from the server dropped: [unpaired-response]";
    assert_eq!(end.stderr.matches(dropped).count(), 20, "{}", end.stderr);
    assert!(end.stderr.contains("suppressed 20 similar lines: "), "{}", end.stderr);
}

#[test]
fn a_call_that_waits_for_the_tools_is_made_though_the_client_has_said_its_last_word() {
    let server = scripted_server().to_string_lossy().into_owned();
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--", &server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let hello = support::http::initialize();
    let all = format!("{hello}\n{ready}\n{}\n", call(7, "echo", &json!({ "text": "last" })));
    gateway.stdin.take().unwrap().write_all(all.as_bytes()).unwrap();
    let output = gateway.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(answers.lines().last().unwrap()).unwrap();
    assert_eq!((&answer["id"], text_of(&answer)), (&json!(7), "last"));
}

#[test]
fn a_server_that_does_not_mind_signals_is_killed() {
    let script = "trap '' TERM INT; while :; do sleep 0.1; done";
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", "1", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    support::stdio::until("the server runs", || children_of(gateway.id()) > 0);
    kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
    let gateway = std::cell::RefCell::new(&mut gateway);
    support::stdio::until("both have ended", || gateway.borrow_mut().try_wait().unwrap().is_some());
}

#[test]
fn a_url_that_never_answers_keeps_nobody_from_leaving() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    for leave_by_signal in [true, false] {
        let mut gateway = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .args(["run", "--grace", "0", "--url", &url])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = gateway.stdin.take().unwrap();
        writeln!(stdin, "{}", support::http::initialize()).unwrap();
        // It has asked, and waits.
        let (_connection, _) = silent.accept().unwrap();
        let kept = leave_by_signal.then_some(stdin);
        if kept.is_some() {
            kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
        }
        let gateway = std::cell::RefCell::new(&mut gateway);
        support::stdio::until("it has ended", || {
            gateway.borrow_mut().try_wait().unwrap().is_some()
        });
    }
}

#[test]
fn garbage_from_the_client_is_answered_and_what_follows_is_served() {
    let mut gateway = gateway(&[], "");
    gateway.shake_hands();
    for garbage in ["\u{0}\u{1}binary", "{\"jsonrpc\":", "[1,2", "\"text\"", "{]"] {
        gateway.write_raw(&format!("{garbage}\n"));
        let answer = gateway.receive();
        assert!(answer.get("id").is_none(), "{answer}");
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!([-32700, -32600].contains(&code), "{answer}");
    }
    let answer = gateway.call(9, "echo", &json!({ "text": "still here" }));
    assert_eq!(text_of(&answer), "still here");
}

#[test]
fn hundreds_of_sessions_that_come_and_go_leave_no_process_behind() {
    let gateway = support::http::Gateway::scripted(&["--max-children", "4"]);
    for _ in 0..200 {
        // The server of a session that was ended may still be on its way out.
        support::stdio::until("a place is free", || gateway.children() < 2);
        let session = gateway.session();
        let headers = [("mcp-session-id", session.as_str())];
        let answer = support::http::request(gateway.port, "DELETE", "/mcp", &headers, "");
        assert_eq!(answer.status, 200);
    }
    support::stdio::until("the servers are gone", || gateway.children() == 0);
    // The cap holds for those that stay, and a place is free when one goes.
    let sessions: Vec<String> = (0..4).map(|_| gateway.session()).collect();
    let refused = gateway.post(&[], &support::http::initialize());
    assert_eq!(refused.status, 503, "{}", refused.text());
    let headers = [("mcp-session-id", sessions[0].as_str())];
    support::http::request(gateway.port, "DELETE", "/mcp", &headers, "");
    support::stdio::until("a place is free", || {
        gateway.post(&[], &support::http::initialize()).status == 200
    });
    gateway.end();
}
