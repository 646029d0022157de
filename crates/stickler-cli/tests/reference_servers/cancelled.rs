//! A call that is cancelled: what it runs is ended, and the server goes on.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::programs::{wait_for, wait_until_gone};
use crate::root::{Root, has_git};
use crate::session::Session;
use crate::support_http::{Gateway, call};

/// Runs until it is ended, with a child of its own, and says when both are there.
const ENDLESS: &str = "sleep 600 & echo $$ > shell.pid; echo $! > child.pid; wait";

/// Puts a program of that name, which never ends, where the server finds it first; the `PATH`.
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
        wait_until_gone(&root.read(pid));
    }
}

fn notice(id: u32) -> Value {
    let params = json!({ "requestId": id, "reason": "no longer needed" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Makes a call, cancels it when its program runs, and sees the program and its child end.
fn cancel(session: &mut Session, root: &Root, tool: &str, arguments: Value) {
    let id = session.begin("tools/call", json!({ "name": tool, "arguments": arguments }));
    wait_until_running(root);
    session.send(&notice(id));
    wait_until_ended(root);
    // What is cancelled is not answered, and what comes after it is.
    let next = session.begin("ping", json!({}));
    assert_eq!(session.receive()["id"], next, "{tool}");
}

#[test]
fn a_command_ends_with_its_call() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let arguments = json!({ "command": ENDLESS, "timeout_seconds": 600 });
    cancel(&mut session, &root, "run_shell_monitored", arguments);
    let result = session.works("run_shell_monitored", json!({ "command": "echo next" }));
    assert_eq!(result["structuredContent"]["stdout"], "next\n");
}

#[test]
fn a_command_that_does_not_heed_the_request_to_end_is_ended_too() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "trap '' TERM; sleep 600 & echo $! > child.pid; echo $$ > shell.pid; wait; wait";
    let arguments = json!({ "command": command, "timeout_seconds": 600 });
    cancel(&mut session, &root, "run_shell_monitored", arguments);
}

#[test]
fn tests_end_with_their_call() {
    for (suite, tool, arguments) in [
        ("files", "run_tests", json!({ "timeout_seconds": 600 })),
        ("project", "run_test_task", json!({ "test_path": "tests", "timeout_seconds": 600 })),
    ] {
        let root = Root::new();
        root.write("run-tests.sh", ENDLESS);
        let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
        let mut session = Session::gateway(suite, &root.path(), &options);
        cancel(&mut session, &root, tool, arguments);
    }
}

#[test]
fn a_package_manager_ends_with_its_call() {
    let root = Root::new();
    let path = endless_program(&root, "cargo");
    let mut session = Session::with_path("sandbox", &root.path(), &["--allow-shell"], &path);
    let arguments = json!({ "action": "remove", "package": "serde", "timeout_seconds": 600 });
    cancel(&mut session, &root, "dependency_manager", arguments);
    // The server can still look.
    let list = session.works("dependency_manager", json!({ "action": "list" }));
    assert_eq!(list["structuredContent"]["sections"]["dependencies"]["serde"], "1.0");
}

#[test]
fn git_ends_with_its_call_and_leaves_no_lock() {
    if !has_git() {
        return;
    }
    let root = Root::with_git();
    // What a file goes through on its way into the repository.
    root.git(&["config", "filter.endless.clean", ENDLESS]);
    root.write(".gitattributes", "slow.txt filter=endless\n");
    root.write("slow.txt", "x\n");
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let arguments = json!({ "action": "add", "paths": ["slow.txt"] });
    cancel(&mut session, &root, "git_controller", arguments);
    let is_free = || !root.path().join(".git/index.lock").exists();
    wait_for("git to take its lock away", is_free);
    session.works("git_controller", json!({ "action": "add", "paths": ["README.md"] }));
}

#[test]
fn a_command_ends_with_its_call_over_http() {
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
        assert_eq!(gateway.post(&headers, &notice(1).to_string()).status, 202);
        wait_until_ended(&root);
    });
    let next = gateway.post(&headers, &call(2, "run_shell_monitored", &json!({ "command": "ls" })));
    assert!(next.text().contains("README.md"), "{}", next.text());
}
