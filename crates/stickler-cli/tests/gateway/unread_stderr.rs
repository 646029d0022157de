//! If standard error is not read, only log lines are lost; calls and signals are not affected.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::support::http::{call, initialize, request, scripted_server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Number of rejected calls; the log lines of 20 of them exceed the capacity of a pipe.
const CALLS: u32 = 300;

/// A server that writes 3.6 MB to its standard error before it responds.
const NOISY: &str = "line=$(head -c 4000 /dev/zero | tr '\\0' x); i=0; \
    while [ $i -lt 900 ]; do echo \"$line\" >&2; i=$((i+1)); done; exec \"$0\"";

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Starts a gateway and returns its standard error, a pipe that this process does not read.
fn start(options: &[&str], server: &[&str]) -> (Child, ChildStderr) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", "1"])
        .args(options)
        .arg("--")
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = child.stderr.take().unwrap();
    (child, stderr)
}

/// A call that is rejected with a log line of more than 4 KiB.
fn rejected_call(id: u32) -> String {
    call(id, "echo", &json!({ "k".repeat(5000): 1 }))
}

/// Makes calls that are rejected, then a ping, over stdio.
fn converse(child: &mut Child) {
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut receive = || -> Value {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    writeln!(stdin, "{}", initialize()).unwrap();
    assert_eq!(receive()["id"], 0);
    writeln!(stdin, "{READY}").unwrap();
    for id in 1..=CALLS {
        writeln!(stdin, "{}", rejected_call(id)).unwrap();
        let answer = receive();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(true)));
    }
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":"ping","method":"ping"}}"#).unwrap();
    assert_eq!(receive()["id"], "ping");
    child.stdin = Some(stdin);
    child.stdout = Some(stdout.into_inner());
}

#[test]
fn unread_stderr_does_not_block_calls_or_sigterm_on_stdio() {
    let server = scripted_server().to_str().unwrap().to_owned();
    for server in [vec![server.as_str()], vec!["sh", "-c", NOISY, &server]] {
        let (mut child, stderr) = start(&[], &server);
        converse(&mut child);
        // Keep stdin open: the server also exits at the end of its input.
        let stdin = child.stdin.take();
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        // The forwarded signal ends the server.
        assert_eq!(child.wait().unwrap().code(), Some(143));
        drop((stdin, stderr));
    }
}

#[test]
fn lost_log_lines_are_reported_when_stderr_is_read_again() {
    let server = scripted_server().to_str().unwrap().to_owned();
    let (mut child, stderr) = start(&[], &["sh", "-c", NOISY, &server]);
    converse(&mut child);
    let mut lines = BufReader::new(stderr).lines().map(Result::unwrap);
    let reported = lines.find_map(|line| {
        let (before, _) = line.split_once(" log lines were lost because standard error was")?;
        before.rsplit(' ').next()?.parse::<u32>().ok()
    });
    // The queue of 1 MiB and the pipe hold fewer than 400 of the 900 lines of 4 KB.
    assert!(reported.is_some_and(|lost| (1..1000).contains(&lost)), "{reported:?}");
    std::thread::spawn(move || lines.for_each(drop));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn unread_stderr_does_not_block_requests_or_sigterm_over_http() {
    let server = scripted_server().to_str().unwrap().to_owned();
    let (mut child, mut stderr) =
        start(&["--listen", "127.0.0.1:0"], &["sh", "-c", NOISY, &server]);
    // Only the line with the listen address is read.
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"/mcp\n") {
        stderr.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    let line = String::from_utf8(line).unwrap();
    let port = line.rsplit(':').next().unwrap().trim_end_matches("/mcp\n").parse().unwrap();
    let send = |headers: &[(&str, &str)], body: &str| {
        request(port, "POST", "/mcp", headers, body).finish()
    };
    let session = send(&[], &initialize()).header("mcp-session-id").unwrap().to_owned();
    let header = [("mcp-session-id", session.as_str())];
    assert_eq!(send(&header, READY).status, 202);
    for id in 1..=CALLS {
        let answer: Value =
            serde_json::from_slice(&send(&header, &rejected_call(id)).body).unwrap();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(true)));
        // Requests that are rejected before they reach a session are logged, too.
        assert_eq!(send(&[("origin", "https://evil.example")], "{}").status, 403);
    }
    assert_eq!(request(port, "GET", "/healthz", &[], "").finish().status, 200);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
