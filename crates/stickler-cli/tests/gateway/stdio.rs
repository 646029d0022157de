//! The gateway between a stdio client and a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A server that selects its response by the text of the request line.
const SERVER: &str = r#"
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'stickler:tools:'*) id=${line#*stickler:tools:}; echo '{"jsonrpc":"2.0","id":"stickler:tools:'"${id%%\"*}"'","result":{"tools":[{"name":"say","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}' ;;
    *'"text":"die"'*) exit 7 ;;
    *'"text":"noise"'*) echo 'text that is not JSON'; echo '{"jsonrpc":"2.0","id":5,"result":{"content":[]}}' ;;
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

    /// Starts the gateway and performs the handshake.
    fn start_ready(options: &[&str]) -> Self {
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

    /// Closes stdin and waits for the exit.
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
fn invalid_call_is_rejected_with_help_and_valid_call_is_forwarded_unchanged() {
    let mut gateway = Gateway::start_ready(&[]);
    gateway.call(3, json!({ "txt": "sesame" }));
    let response = gateway.receive();
    assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(3), &json!(true)));
    let help = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("did you mean `text` (string, required)?"), "{help}");
    gateway.call(4, json!({ "text": "hi" }));
    let expected = r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"said"}],  "x":1.50}}"#;
    assert_eq!(gateway.receive_line().trim_end(), expected);
    let (status, log) = gateway.end();
    assert_eq!(status.code(), Some(0));
    assert!(log.contains("WARN sh: call of `say` from the client rejected: [STK-107]"), "{log}");
    assert!(!log.contains("sesame"), "values stay out of the log: {log}");
}

#[test]
fn server_noise_is_dropped_and_malformed_client_input_is_answered() {
    let mut gateway = Gateway::start_ready(&[]);
    gateway.call(5, json!({ "text": "noise" }));
    assert_eq!(gateway.receive()["id"], 5);
    gateway.send("{\"jsonrpc\":");
    let response = gateway.receive();
    assert_eq!((&response["error"]["code"], response.get("id")), (&json!(-32700), None));
    let (_, log) = gateway.end();
    assert!(log.contains("[stdout-noise]"), "{log}");
}

#[test]
fn server_exit_answers_the_pending_request_and_sets_the_exit_code() {
    let mut gateway = Gateway::start_ready(&[]);
    gateway.call(6, json!({ "text": "die" }));
    let response = gateway.receive();
    assert_eq!(response["id"], 6);
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("[STK-105] the server ended with exit status: 7"), "{message}");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(7));
}

#[test]
fn command_that_cannot_start_is_named_in_the_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--", "no-such-server-anywhere"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: [STK-101] cannot start `no-such-server-anywhere`"));
}

#[test]
fn listen_address_without_a_port_is_rejected_with_an_example() {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--listen", "localhost", "--", "cat"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("such as 127.0.0.1:8787"), "{stderr}");
}

#[test]
fn server_ignoring_end_of_input_is_killed_after_the_grace_period() {
    let script = "trap '' TERM; cat >/dev/null; sleep 60 & wait; sleep 60";
    let started = Instant::now();
    let gateway = Gateway::start(&["--grace", "1"], script);
    let (status, _) = gateway.end();
    assert_eq!(status.code(), Some(137), "killed");
    assert!((Duration::from_secs(1)..Duration::from_secs(30)).contains(&started.elapsed()));
}

#[test]
fn signal_is_forwarded_to_the_server() {
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
fn thousand_concurrent_pings_are_answered_once_each() {
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
    assert_eq!(gateway.receive_line(), "", "no response is sent twice");
    assert_eq!(gateway.end().0.code(), Some(0));
}

#[test]
fn command_may_follow_without_double_dash() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
        command.arg("run").args(arguments).stdin(Stdio::null());
        command.output().unwrap().status.code()
    };
    let count = ["sh", "-c", "exit $(($# + 40))", "name", "a", "--listen", "-x"];
    let dashed = [&["--grace", "1", "--"], &count[..]].concat();
    let bare = [&["--grace", "1"], &count[..]].concat();
    assert_eq!(
        (run(&dashed), run(&bare)),
        (Some(43), Some(43)),
        "options after the command belong to the command"
    );
    assert_eq!(
        run(&["--no-such-option", "--", "sh"]),
        Some(2),
        "options before `--` belong to the gateway"
    );
}

/// JavaScript produces these escapes for a string that was cut in the middle of an emoji.
#[test]
fn lone_surrogate_escape_is_forwarded_unchanged() {
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"x":"\ud83d"}}"#;
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":"cut \ud83d"}}"#;
    let script = format!(
        "read -r line; [ \"$line\" = '{request}' ] && printf '%s\\n' '{response}'; read -r line"
    );
    let mut gateway = Gateway::start(&[], &script);
    gateway.send(request);
    let mut line = String::new();
    gateway.stdout.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), response);
}

/// Returns how often the threads of a process have waited so far.
#[cfg(target_os = "linux")]
fn waits(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let statuses = threads.map(|one| one.unwrap().path().join("status"));
    let lines = statuses.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let waits = lines.filter_map(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    });
    waits.sum()
}

#[cfg(target_os = "linux")]
#[test]
fn idle_gateway_does_not_wake_up() {
    let mut gateway = Gateway::start_ready(&[]);
    gateway.call(4, json!({ "text": "hi" }));
    assert_eq!(gateway.receive()["id"], 4);
    // Work that follows the first call is completed once. A periodic timer would wake the gateway in every interval.
    let is_idle = |_| {
        let before = waits(gateway.child.id());
        std::thread::sleep(Duration::from_millis(1500));
        waits(gateway.child.id()) == before
    };
    assert!((0..5).any(is_idle), "the gateway wakes up while it is idle");
    gateway.end();
}
