//! Cancelled calls: the processes that they run are killed, and the server continues.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::processes::{wait_for, wait_until_exited};
use crate::root::{Root, has_git};
use crate::session::Session;
use crate::support_http::{Gateway, call};

/// Shell command that never ends: writes its process id and that of its child to files, then waits.
const ENDLESS: &str = "sleep 600 & echo $$ > shell.pid; echo $! > child.pid; wait";

/// Installs an endless program under a name, and returns a `PATH` on which it comes first.
fn endless_program(root: &Root, name: &str) -> String {
    let folder = root.beside("other");
    let program = folder.join(name);
    std::fs::write(&program, format!("#!/bin/sh\n{ENDLESS}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

const PIDS: [&str; 2] = ["shell.pid", "child.pid"];

fn wait_until_running(root: &Root) {
    wait_for("the program to start", || {
        PIDS.iter().all(|pid| {
            let written = std::fs::read_to_string(root.path().join(pid));
            written.is_ok_and(|text| text.ends_with('\n'))
        })
    });
}

fn wait_until_ended(root: &Root) {
    for pid in PIDS {
        wait_until_exited(&root.read(pid));
    }
}

fn cancelled_notification(id: u32) -> Value {
    let params = json!({ "requestId": id, "reason": "no longer needed" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Makes a call, cancels it when its program runs, and waits until the program and its child have exited.
fn cancel_call(session: &mut Session, root: &Root, tool: &str, arguments: Value) {
    let id = session.begin("tools/call", json!({ "name": tool, "arguments": arguments }));
    wait_until_running(root);
    session.send(&cancelled_notification(id));
    wait_until_ended(root);
    // The cancelled call gets no response; the next request does.
    let next = session.begin("ping", json!({}));
    assert_eq!(session.receive()["id"], next, "{tool}");
}

#[test]
fn cancelled_call_kills_its_command() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let arguments = json!({ "command": ENDLESS, "timeout_seconds": 600 });
    cancel_call(&mut session, &root, "run_shell_monitored", arguments);
    let result = session.succeeds("run_shell_monitored", json!({ "command": "echo next" }));
    assert_eq!(result["structuredContent"]["stdout"], "next\n");
}

#[test]
fn cancelled_call_kills_a_command_that_ignores_sigterm() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "trap '' TERM; sleep 600 & echo $! > child.pid; echo $$ > shell.pid; wait; wait";
    let arguments = json!({ "command": command, "timeout_seconds": 600 });
    cancel_call(&mut session, &root, "run_shell_monitored", arguments);
}

#[test]
fn cancelled_call_kills_its_test_run() {
    for (suite, tool, arguments) in [
        ("files", "run_tests", json!({ "timeout_seconds": 600 })),
        ("project", "run_test_task", json!({ "test_path": "tests", "timeout_seconds": 600 })),
    ] {
        let root = Root::new();
        root.write("run-tests.sh", ENDLESS);
        let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
        let mut session = Session::gateway(suite, &root.path(), &options);
        cancel_call(&mut session, &root, tool, arguments);
    }
}

#[test]
fn cancelled_call_kills_its_package_manager() {
    let root = Root::new();
    let path = endless_program(&root, "cargo");
    let mut session = Session::with_path("sandbox", &root.path(), &["--allow-shell"], &path);
    let arguments = json!({ "action": "remove", "package": "serde", "timeout_seconds": 600 });
    cancel_call(&mut session, &root, "dependency_manager", arguments);
    // The server can still list dependencies.
    let list = session.succeeds("dependency_manager", json!({ "action": "list" }));
    assert_eq!(list["structuredContent"]["sections"]["dependencies"]["serde"], "1.0");
}

#[test]
fn cancelled_call_kills_git_and_releases_its_lock() {
    if !has_git() {
        return;
    }
    let root = Root::with_git();
    // A clean filter runs when git adds the file.
    root.git(&["config", "filter.endless.clean", ENDLESS]);
    root.write(".gitattributes", "slow.txt filter=endless\n");
    root.write("slow.txt", "x\n");
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let arguments = json!({ "action": "add", "paths": ["slow.txt"] });
    cancel_call(&mut session, &root, "git_controller", arguments);
    let is_free = || !root.path().join(".git/index.lock").exists();
    wait_for("git to release its lock", is_free);
    session.succeeds("git_controller", json!({ "action": "add", "paths": ["README.md"] }));
}

#[test]
fn cancelled_http_call_kills_its_command() {
    let root = Root::new();
    let (binary, path) = (env!("CARGO_BIN_EXE_stickler"), root.path());
    let path = path.to_str().unwrap();
    let serve = ["--", binary, "serve", "--suite", "sandbox", "--allow-shell", "--root", path];
    let gateway = Gateway::start(&serve);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let arguments = json!({ "command": ENDLESS, "timeout_seconds": 600 });
    std::thread::scope(|scope| {
        scope.spawn(|| gateway.post(&headers, &call(1, "run_shell_monitored", &arguments)));
        wait_until_running(&root);
        assert_eq!(gateway.post(&headers, &cancelled_notification(1).to_string()).status, 202);
        wait_until_ended(&root);
    });
    let next = gateway.post(&headers, &call(2, "run_shell_monitored", &json!({ "command": "ls" })));
    assert!(next.text().contains("README.md"), "{}", next.text());
}
