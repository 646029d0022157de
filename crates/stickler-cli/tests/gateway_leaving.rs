//! Servers and clients that go in odd ways: nobody waits for them for ever, and nobody is left unanswered.
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

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::http::{self, children_of};
use support::stdio::{self, until};

fn start(grace: &str, script: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", grace, "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn await_end(gateway: &mut Child) -> Option<i32> {
    let gateway = std::cell::RefCell::new(gateway);
    until("the gateway has ended", || gateway.borrow_mut().try_wait().unwrap().is_some());
    gateway.into_inner().wait().unwrap().code()
}

/// A server that goes at the first word, and leaves something behind that holds its output for as long as
/// that file is there, in a process group of its own or not.
fn leaves_something_behind(group: &str, file: &tempfile::NamedTempFile) -> String {
    let file = file.path().display();
    let stays = format!("while [ -e {file} ]; do sleep 0.1; done");
    format!("{group} sh -c '{stays}' 2>/dev/null & read line; exit 3")
}

#[test]
fn a_server_that_leaves_something_behind_has_ended_all_the_same() {
    for group in ["", "setsid"] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = &leaves_something_behind(group, &file);
        let mut gateway = stdio::Gateway::start(&["--grace", "1", "--", "sh", "-c", script]);
        gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        let answer = gateway.receive();
        assert_eq!(answer["id"], 1);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("[STK-105]"), "{script}: {message}");
        assert_eq!(gateway.wait().status, 3, "{script}");
    }
}

/// As `setsid` does when it leads a process group.
#[test]
fn a_program_that_only_starts_the_server_may_go() {
    let server = r#"while read line; do echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"; done"#;
    let script = format!("exec 3<&0; sh -c '{server}' <&3 & exit 0");
    let mut gateway = stdio::Gateway::start(&["--grace", "1", "--", "sh", "-c", &script]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(gateway.receive(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    gateway.end();
}

#[test]
fn over_http_it_has_ended_too() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = leaves_something_behind("setsid", &file);
    let gateway = http::Gateway::start(&["--", "sh", "-c", &script]);
    let answer = gateway.post(&[], &http::initialize());
    assert!(answer.text().contains("[STK-105]"), "{answer:?}");
}

#[test]
fn a_server_that_does_not_read_does_not_outlive_its_client() {
    let mut gateway = start("0.1", "sleep 60");
    until("the server runs", || children_of(gateway.id()) > 0);
    let mut stdin = gateway.stdin.take().unwrap();
    let message = format!("{}\n", json!({ "jsonrpc": "2.0", "method": "x/y", "params": {} }));
    // More than the pipe to the server takes, less than what can be said without being read.
    stdin.write_all(message.repeat((100 << 10) / message.len()).as_bytes()).unwrap();
    drop(stdin);
    await_end(&mut gateway);
}

#[test]
fn a_client_that_does_not_read_does_not_keep_us_from_ending() {
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let mut gateway = start("0.2", &format!("while :; do echo '{notice}'; done"));
    // It has begun to speak, and then nobody listens.
    gateway.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
    await_end(&mut gateway);
}

#[test]
fn answers_are_waited_for_only_while_somebody_listens() {
    let ask = || {
        let mut gateway = start("0.3", "sleep 60");
        until("the server runs", || children_of(gateway.id()) > 0);
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        writeln!(gateway.stdin.take().unwrap(), "{ping}").unwrap();
        gateway
    };
    let (mut listens, mut listens_no_more) = (ask(), ask());
    drop(listens_no_more.stdout.take());
    await_end(&mut listens_no_more);
    assert!(listens.try_wait().unwrap().is_none(), "the other is still waited for");
    await_end(&mut listens);
}
