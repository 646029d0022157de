//! The gateway's log: format, fields, limits, escapes, and the sources of its lines.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::http::{call, initialize, request, scripted_server};
use crate::support::stdio::Gateway;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn scripted() -> String {
    scripted_server().to_str().unwrap().to_owned()
}

/// Makes these calls of `echo` through a gateway on stdio and returns its log.
fn log_of(options: &[&str], calls: &[Value]) -> String {
    let server = scripted();
    let own = ["--summary", "off", "--name", "files", "--", &server];
    let mut gateway = Gateway::start(&[options, &own].concat());
    gateway.handshake();
    for (id, arguments) in (1..).zip(calls) {
        gateway.call(id, "echo", arguments);
    }
    gateway.end().stderr
}

/// A process that serves HTTP; its log is returned when it ends.
struct Served {
    child: Child,
    port: u16,
    log: String,
}

impl Served {
    fn start(command: &str, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .arg(command)
            .args(options)
            .env("STICKLER_TEST_TOKEN", "secret")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = Vec::new();
        let mut byte = [0];
        while !log.ends_with(b"/mcp\n") {
            child.stderr.as_mut().unwrap().read_exact(&mut byte).unwrap();
            log.extend(byte);
        }
        let log = String::from_utf8(log).unwrap();
        let port = log.rsplit(':').next().unwrap().trim_end_matches("/mcp\n").parse().unwrap();
        Self { child, port, log }
    }

    fn post(&self, headers: &[(&str, &str)], body: &str) -> crate::support::http::Response {
        request(self.port, "POST", "/mcp", headers, body).finish()
    }

    fn end(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut self.log).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{}", self.log);
        self.log
    }
}

fn lines_with<'l>(log: &'l str, words: &[&str]) -> Vec<&'l str> {
    log.lines().filter(|line| words.iter().all(|word| line.contains(word))).collect()
}

#[test]
fn rejected_call_is_one_line_with_its_fields() {
    let log = log_of(&[], &[json!({ "txt": 5, "other": true })]);
    let lines = lines_with(&log, &["call of `echo` from the client rejected: [STK-107] "]);
    assert_eq!(lines.len(), 1, "{log}");
    for part in [
        "Z WARN files: call of",
        ", and 1 more problem tool=echo rule=STK-107 request_id=1 client=\"c 1\"",
    ] {
        assert!(lines[0].contains(part), "{part}: {log}");
    }
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn json_lines_have_named_fields() {
    let log = log_of(&["--log-format", "json"], &[json!({ "txt": 5 })]);
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = &lines[0];
    for (key, expected) in [
        ("level", json!("WARN")),
        ("server", json!("files")),
        ("client", json!("c 1")),
        ("request_id", json!(1)),
        ("tool", json!("echo")),
        ("rule", json!("STK-107")),
    ] {
        assert_eq!(line[key], expected, "{log}");
    }
    assert!(line["message"].as_str().unwrap().starts_with("call of `echo`"), "{log}");
    assert!(line["time"].as_str().unwrap().ends_with('Z'), "{log}");
}

#[test]
fn log_format_and_level_can_be_set_by_environment_variables() {
    let server = scripted();
    let variables = [("STICKLER_LOG_FORMAT", "json"), ("STICKLER_LOG", "error")];
    let mut gateway = Gateway::with_env(&["--", &server], &variables);
    gateway.handshake();
    gateway.call(1, "echo", &json!({ "txt": 5 }));
    assert_eq!(gateway.end().stderr, "", "a rejected call is not an error");
    let end = Gateway::with_env(&["--", "true"], &[("STICKLER_LOG_FORMAT", "xml")]).end();
    let expected =
        "the environment variable `STICKLER_LOG_FORMAT` must be one of \"text\", \"json\"";
    assert_eq!((end.status, end.stderr.contains(expected)), (2, true), "{}", end.stderr);
}

#[test]
fn hidden_characters_are_escaped_and_long_names_are_truncated() {
    let hidden = "a\u{202e}b\u{2066}c\u{200b}d\u{2028}e\u{1b}[2J\nWARN f";
    let log = log_of(&[], &[json!({ hidden: 1 }), json!({ "k".repeat(1 << 20): 1 })]);
    let escaped = r"/a\u{202e}b\u{2066}c\u{200b}d\u{2028}e\u{1b}[2J\nWARN f";
    assert_eq!(lines_with(&log, &[escaped]).len(), 1, "{log}");
    let cut = lines_with(&log, &["kkkk"]);
    assert_eq!(cut.len(), 1);
    assert!(cut[0].len() <= 8192 && cut[0].contains("… (1048"), "{}", cut[0]);
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn log_lines_of_one_kind_are_rate_limited_and_counted() {
    let calls: Vec<Value> = (0..33).map(|_| json!({ "txt": 5 })).collect();
    let log = log_of(&["--log-format", "json"], &calls);
    let is_summary = |line: &Value| line["suppressed"] == 13 && line["rule"] == "STK-107";
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (lines.len(), lines.iter().filter(|line| is_summary(line)).count()),
        (21, 1),
        "{log}"
    );
    let message = lines.last().unwrap()["message"].as_str().unwrap();
    assert!(message.starts_with("suppressed 13 similar lines: call of `echo`"), "{log}");
}

#[test]
fn server_stderr_is_logged_without_waiting_for_an_orphan_that_holds_it() {
    let script = "printf 'plain text\\n\\033[31mred\\033[0m\\nno newline' >&2; sleep 60 & exit 3";
    for (options, count) in [(&["--log", "error"], 3), (&["--log", "off"], 0)] {
        let arguments = [&options[..], &["--name", "noisy", "--", "sh", "-c", script]].concat();
        let end = Gateway::start(&arguments).end();
        assert_eq!(end.status, 3, "{}", end.stderr);
        let expected =
            ["noisy: stderr: plain text", "noisy: stderr: red", "noisy: stderr: no newline"];
        let found = expected.iter().filter(|line| end.stderr.contains(**line)).count();
        assert_eq!(found, count, "{}", end.stderr);
    }
}

#[test]
fn rejected_requests_and_connections_are_logged_with_peer_and_status() {
    let server = scripted();
    let gateway = Served::start(
        "run",
        &[
            "--listen",
            "127.0.0.1:0",
            "--bearer-token-env",
            "STICKLER_TEST_TOKEN",
            "--name",
            "files",
            "--",
            &server,
        ],
    );
    let wrong = ("authorization", "Bearer wrong-secret");
    assert_eq!(gateway.post(&[wrong], "{}").status, 401);
    let token = ("authorization", "Bearer secret");
    assert_eq!(gateway.post(&[token, ("origin", "https://evil.example")], "{}").status, 403);
    assert_eq!(gateway.post(&[token], "").status, 400);
    let other = ("mcp-session-id", "unknown-session");
    assert_eq!(gateway.post(&[token, other], &call(1, "echo", &json!({}))).status, 404);
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    stream.write_all(b"\x16\x03\x01\x02\x00\x01 not HTTP\r\n\r\n").unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    let log = gateway.end();
    for status in [401, 403, 400, 404] {
        let status = format!("status={status}");
        let words = ["WARN files: request rejected: ", &status, "peer=127.0.0.1:"];
        assert_eq!(lines_with(&log, &words).len(), 1, "{log}");
    }
    assert_eq!(lines_with(&log, &["the bearer token is wrong", "status=401"]).len(), 1, "{log}");
    assert_eq!(lines_with(&log, &["connection rejected: ", "peer=127.0.0.1:"]).len(), 1, "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn log_lines_of_a_session_have_the_prefix_of_its_id() {
    let server = scripted();
    let gateway =
        Served::start("run", &["--listen", "127.0.0.1:0", "--name", "files", "--", &server]);
    let answer = gateway.post(&[], &initialize());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let header = ("mcp-session-id", session.as_str());
    gateway.post(&[header], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    gateway.post(&[header], &call("x", "echo", &json!({ "txt": 1 })));
    let log = gateway.end();
    let expected = format!("request_id=x session={} client=\"test 1\"", &session[..8]);
    assert_eq!(lines_with(&log, &["call of `echo`", &expected]).len(), 1, "{log}");
    assert!(!log.contains(&session), "{log}");
}

#[test]
fn serve_and_call_log_rejected_calls() {
    let root = std::env::temp_dir().join(format!("stickler-log-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let root = root.to_str().unwrap();
    let stickler = env!("CARGO_BIN_EXE_stickler");
    let command = [stickler, "serve", "--suite", "files", "--root", root];
    let called = Command::new(stickler)
        .args(["call", "read_file", "pth=x", "--log", "info", "--log-format", "json", "--"])
        .args(command)
        .output()
        .unwrap();
    let log = String::from_utf8(called.stderr).unwrap();
    let line: Value = serde_json::from_str(lines_with(&log, &["rejected"])[0]).unwrap();
    // At the default level, the explanation on standard output is enough.
    assert_eq!((&line["tool"], &line["level"]), (&json!("read_file"), &json!("INFO")), "{log}");
    let listening =
        Served::start("serve", &["--suite", "files", "--root", root, "--listen", "127.0.0.1:0"]);
    let answer = listening.post(&[], &initialize());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let header = ("mcp-session-id", session.as_str());
    listening.post(&[header], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    listening.post(&[header], &call(3, "read_file", &json!({ "pth": "x" })));
    assert_eq!(listening.post(&[("host", "evil.example")], &initialize()).status, 403);
    let log = listening.end();
    let words = ["call of `read_file` rejected: [STK-107]", "request_id=", "client=\"test 1\""];
    assert_eq!(lines_with(&log, &words).len(), 1, "{log}");
    assert_eq!(lines_with(&log, &["request rejected", "status=403"]).len(), 1, "{log}");
    let _ = std::fs::remove_dir_all(root);
}
