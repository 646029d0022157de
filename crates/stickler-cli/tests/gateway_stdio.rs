//! The gateway in front of real processes, over standard input and output.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A server that answers by what a line contains.
const SERVER: &str = r#"
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'stickler:tools:'*) own=${line#*stickler:tools:}; echo '{"jsonrpc":"2.0","id":"stickler:tools:'"${own%%\"*}"'","result":{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}' ;;
    *'"text":"die"'*) exit 7 ;;
    *'"text":"noise"'*) echo 'a line for people'; echo '{"jsonrpc":"2.0","id":5,"result":{"content":[]}}' ;;
    *'"text"'*) echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"said"}],  "x":1.50}}' ;;
  esac
done
"#;

/// The gateway and the pipes to it.
struct Gateway {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Gateway {
    fn start(options: &[&str], script: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
            .arg("run")
            .args(options)
            .args(["--", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// After the handshake.
    fn ready(options: &[&str]) -> Self {
        let mut gateway = Self::start(options, SERVER);
        gateway.send(&initialize().to_string());
        let capabilities = &gateway.receive()["result"]["capabilities"];
        assert_eq!(capabilities["experimental"]["toolValidation"]["method"], "stickler_validate");
        gateway.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        gateway
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn receive(&mut self) -> Value {
        let line = self.receive_line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn call(&mut self, id: u32, arguments: Value) {
        let params = json!({ "name": "say", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send(&call.to_string());
    }

    /// Closes the pipe and waits for the end.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status, String::from_utf8(output.stderr).unwrap())
    }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    } })
}

#[test]
fn a_bad_call_is_answered_with_help_and_a_good_one_goes_through_untouched() {
    let mut gateway = Gateway::ready(&[]);
    gateway.call(3, json!({ "txt": "sesame" }));
    let answer = gateway.receive();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(3), &json!(true)));
    let help = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("did you mean `text`?"), "{help}");
    gateway.call(4, json!({ "text": "hi" }));
    let expected = r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"said"}],  "x":1.50}}"#;
    assert_eq!(gateway.receive_line().trim_end(), expected);
    let (status, log) = gateway.end();
    assert_eq!(status.code(), Some(0));
    assert!(log.contains("WARN sh: call of `say` from the client rejected: [STK-107]"), "{log}");
    assert!(!log.contains("sesame"), "values stay out of the log: {log}");
}

#[test]
fn noise_is_kept_off_the_wire_and_bytes_that_are_not_json_are_answered() {
    let mut gateway = Gateway::ready(&[]);
    gateway.call(5, json!({ "text": "noise" }));
    assert_eq!(gateway.receive()["id"], 5);
    gateway.send("{\"jsonrpc\":");
    let answer = gateway.receive();
    assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32700), None));
    let (_, log) = gateway.end();
    assert!(log.contains("[stdout-noise]"), "{log}");
}

#[test]
fn when_the_server_dies_the_request_in_flight_is_answered_and_its_exit_code_kept() {
    let mut gateway = Gateway::ready(&[]);
    gateway.call(6, json!({ "text": "die" }));
    let answer = gateway.receive();
    assert_eq!(answer["id"], 6);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("[STK-105] the server ended with exit status: 7"), "{message}");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(7));
}

#[test]
fn a_server_that_cannot_be_started_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--", "no-such-server-anywhere"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.starts_with("error: [STK-101] cannot start `no-such-server-anywhere`"));
}

#[test]
fn an_address_without_a_port_is_explained() {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--listen", "localhost", "--", "cat"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("such as 127.0.0.1:8787"), "{complaint}");
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_is_made_to_go() {
    let script = "trap '' TERM; cat >/dev/null; sleep 60 & wait; sleep 60";
    let started = Instant::now();
    let gateway = Gateway::start(&["--grace", "1"], script);
    let (status, _) = gateway.end();
    assert_eq!(status.code(), Some(137), "killed");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_signal_reaches_the_server() {
    let mut gateway =
        Gateway::start(&[], "trap 'exit 9' TERM; echo ready >&2; while :; do sleep 0.05; done");
    let mut stderr = BufReader::new(gateway.child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.trim().ends_with("INFO sh: stderr: ready"), "{line}");
    kill_process(Pid::from_child(&gateway.child), Signal::TERM).unwrap();
    assert_eq!(gateway.child.wait().unwrap().code(), Some(9));
}

#[test]
fn a_thousand_requests_at_once_are_answered_each_once() {
    let echo = r#"while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}"; done"#;
    let mut gateway = Gateway::start(&["--log", "off"], echo);
    let mut stdin = gateway.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..1000 {
            writeln!(stdin, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
        }
        stdin
    });
    let mut ids: Vec<u64> = (0..1000).map(|_| gateway.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..1000));
    drop(writer.join().unwrap());
    assert_eq!(gateway.end().0.code(), Some(0));
}

#[test]
fn a_command_is_one_without_the_dashes_too() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
        command.arg("run").args(arguments).stdin(Stdio::null());
        command.output().unwrap().status.code()
    };
    let count = ["sh", "-c", "exit $(($# + 40))", "name", "a", "--listen", "-x"];
    let dashed = [&["--grace", "1", "--"], &count[..]].concat();
    let bare = [&["--grace", "1"], &count[..]].concat();
    assert_eq!((run(&dashed), run(&bare)), (Some(43), Some(43)), "its options are its own");
    assert_eq!(run(&["--no-such-option", "--", "sh"]), Some(2), "ours are not the command's");
}

/// As JavaScript writes a text that was cut in the middle of an emoji.
#[test]
fn half_of_a_surrogate_pair_is_passed_on_as_it_is() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"x":"\ud83d"}}"#;
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":"cut \ud83d"}}"#;
    let script = format!(
        "read -r line; [ \"$line\" = '{asked}' ] && printf '%s\\n' '{answer}'; read -r line"
    );
    let mut gateway = Gateway::start(&[], &script);
    gateway.send(asked);
    let mut line = String::new();
    gateway.stdout.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), answer);
}
