//! Servers that exit and clients that stop reading: pending requests are answered, and the gateway ends.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::support::http::{self, child_pids, children_of, is_running};
use crate::support::stdio::{self, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

fn start(grace: &str, script: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["run", "--grace", grace, "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn wait_for_exit(gateway: &mut Child) -> Option<i32> {
    let gateway = std::cell::RefCell::new(gateway);
    wait_until("the gateway has exited", || gateway.borrow_mut().try_wait().unwrap().is_some());
    gateway.into_inner().wait().unwrap().code()
}

/// Script of a server that exits on its first message, and leaves an orphan that holds its stdout open while
/// `file` exists. `group` is the prefix that puts the orphan into another process group, or empty.
fn leaves_orphan(group: &str, file: &tempfile::NamedTempFile) -> String {
    let file = file.path().display();
    let orphan = format!("while [ -e {file} ]; do sleep 0.1; done");
    format!("{group} sh -c '{orphan}' 2>/dev/null & read line; exit 3")
}

#[test]
fn server_exit_is_detected_while_an_orphan_holds_its_stdout() {
    for group in ["", "setsid"] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = &leaves_orphan(group, &file);
        let mut gateway = stdio::Gateway::start(&["--grace", "1", "--", "sh", "-c", script]);
        gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        let response = gateway.receive();
        assert_eq!(response["id"], 1);
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains("[STK-105]"), "{script}: {message}");
        assert_eq!(gateway.wait().status, 3, "{script}");
    }
}

/// `setsid` forks and exits like this when it is a process group leader.
#[test]
fn launcher_process_may_exit_while_the_server_runs() {
    let server = r#"while read line; do echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"; done"#;
    let script = format!("exec 3<&0; sh -c '{server}' <&3 & exit 0");
    let mut gateway = stdio::Gateway::start(&["--grace", "1", "--", "sh", "-c", &script]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(gateway.receive(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    gateway.end();
}

#[test]
fn http_request_is_answered_when_the_server_exits_leaving_an_orphan() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = leaves_orphan("setsid", &file);
    let gateway = http::Gateway::start(&["--", "sh", "-c", &script]);
    let response = gateway.post(&[], &http::initialize());
    assert!(response.text().contains("[STK-105]"), "{response:?}");
}

#[test]
fn server_that_does_not_read_is_ended_with_its_client() {
    let mut gateway = start("0.1", "sleep 60");
    wait_until("the server is running", || children_of(gateway.id()) > 0);
    let servers = child_pids(gateway.id());
    let mut stdin = gateway.stdin.take().unwrap();
    let message = format!("{}\n", json!({ "jsonrpc": "2.0", "method": "x/y", "params": {} }));
    // More than the pipe to the server holds, less than the gateway buffers.
    stdin.write_all(message.repeat((100 << 10) / message.len()).as_bytes()).unwrap();
    drop(stdin);
    wait_for_exit(&mut gateway);
    wait_until("the server has exited", || servers.iter().all(|pid| !is_running(*pid)));
}

#[test]
fn client_that_does_not_read_does_not_block_shutdown() {
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let mut gateway = start("0.2", &format!("while :; do echo '{notice}'; done"));
    // Read the beginning of the output, then stop reading.
    gateway.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill_process(Pid::from_child(&gateway), Signal::TERM).unwrap();
    wait_for_exit(&mut gateway);
}

#[test]
fn pending_responses_are_awaited_only_while_stdout_is_open() {
    let start_with_pending_request = || {
        let mut gateway = start("0.3", "sleep 60");
        wait_until("the server is running", || children_of(gateway.id()) > 0);
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        writeln!(gateway.stdin.take().unwrap(), "{ping}").unwrap();
        gateway
    };
    let (mut open, mut closed) = (start_with_pending_request(), start_with_pending_request());
    drop(closed.stdout.take());
    wait_for_exit(&mut closed);
    assert!(open.try_wait().unwrap().is_none(), "the gateway with an open stdout still waits");
    wait_for_exit(&mut open);
}
