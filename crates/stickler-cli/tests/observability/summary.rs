//! The summary on standard error.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::http::scripted_server;
use crate::support::stdio::Gateway;

fn start(options: &[&str]) -> Gateway {
    let server = scripted_server();
    let mut arguments: Vec<&str> = options.to_vec();
    arguments.extend(["--log", "error", "--", server.to_str().unwrap()]);
    let mut gateway = Gateway::start(&arguments);
    gateway.handshake();
    gateway
}

#[test]
fn summary_at_exit_counts_by_tool_and_client() {
    let mut gateway = start(&["--summary", "text"]);
    gateway.call(1, "echo", &json!({ "text": "x" }));
    gateway.call(2, "echo", &json!({ "txt": "x" }));
    let log = gateway.end().stderr;
    assert!(log.starts_with("summary: 2 calls in "), "{log}");
    assert!(log.contains(", 1 rejected\n"), "{log}");
    let row = log.lines().find(|line| line.trim_start().starts_with("echo")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..7], ["echo", "c", "1", "2", "1", "(STK-107)", "0"], "{row}");
}

#[test]
fn observed_server_is_summarized_by_what_would_have_been_rejected() {
    let mut gateway = start(&["--mode", "observe", "--summary", "json"]);
    gateway.call(1, "echo", &json!({ "txt": "x" }));
    let log = gateway.end().stderr;
    let summary: Value = serde_json::from_str(log.trim()).unwrap();
    let summary = &summary["summary"];
    assert_eq!((&summary["calls"], &summary["rejected"]), (&json!(1), &json!(0)));
    assert_eq!(summary["would_reject"], 1);
    assert_eq!(summary["tools"][0]["rules"], json!([{ "rule": "STK-107", "count": 1 }]));
    let mut gateway = start(&["--mode", "observe", "--summary", "text"]);
    gateway.call(1, "echo", &json!({ "txt": "x" }));
    assert!(gateway.end().stderr.contains("1 would have been rejected"));
}

#[test]
fn signal_prints_the_summary_and_the_gateway_continues() {
    let mut gateway = start(&["--summary", "text"]);
    gateway.call(1, "echo", &json!({ "text": "x" }));
    gateway.signal(Signal::USR1);
    gateway.wait_for_log("summary: 1 call in");
    gateway.call(2, "echo", &json!({ "text": "x" }));
    assert!(gateway.end().stderr.contains("summary: 2 calls in"));
}

#[test]
fn summary_can_be_turned_off_and_names_cannot_control_the_terminal() {
    let mut gateway = start(&["--summary", "off"]);
    gateway.call(1, "echo", &json!({ "txt": "x" }));
    assert_eq!(gateway.end().stderr, "");
    let mut gateway = start(&["--summary", "text"]);
    gateway.call(1, "echo\u{1b}[2J\u{202e}", &json!({ "text": "x" }));
    let log = gateway.end().stderr;
    assert!(log.contains("summary: 1 call") && !log.contains(['\u{1b}', '\u{202e}']), "{log}");
}

#[test]
fn summary_follows_the_log_unless_it_is_asked_for() {
    let run = |options: &[&str]| {
        let server = scripted_server();
        let mut arguments: Vec<&str> = options.to_vec();
        arguments.extend(["--", server.to_str().unwrap()]);
        let mut gateway = Gateway::start(&arguments);
        gateway.handshake();
        gateway.call(1, "echo", &json!({ "text": "x" }));
        gateway.end().stderr
    };
    assert!(run(&[]).contains("summary: 1 call in"));
    let log = run(&["--log-format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(log.trim()).unwrap()["summary"]["calls"], 1);
    assert_eq!(run(&["--log", "error"]), "");
}
