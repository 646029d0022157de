//! Programs that tools run: permission, timeouts, output limits and cleanup.

use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use serde_json::json;

use crate::root::Root;
use crate::session::{Session, text};

#[test]
fn programs_are_not_run_without_permission() {
    let root = Root::new();
    let before = root.snapshot();
    for (suite, tool, arguments) in [
        ("sandbox", "run_shell_monitored", json!({ "command": "touch ran" })),
        ("sandbox", "dependency_manager", json!({ "action": "remove", "package": "serde" })),
        ("files", "run_tests", json!({})),
        ("project", "run_test_task", json!({ "test_path": "tests" })),
    ] {
        let mut session = Session::gateway(suite, &root.path(), &["--test-command", "touch ran"]);
        let output = session.fails(tool, arguments);
        assert!(output.contains("--allow-shell") && output.contains("nothing was run"), "{output}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn timed_out_command_is_killed_with_its_children() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "sleep 600 & echo $! > child.pid; echo started; wait";
    let arguments = json!({ "command": command, "timeout_seconds": 1 });
    let result = session.succeeds("run_shell_monitored", arguments);
    assert_eq!(result["structuredContent"]["timed_out"], true);
    assert!(text(&result).contains("exceeded the time limit"), "{result}");
    wait_until_exited(&root.read("child.pid"));
    // The server still works.
    let result = session.succeeds("run_shell_monitored", json!({ "command": "echo next" }));
    assert_eq!(result["structuredContent"]["stdout"], "next\n");
}

#[test]
fn background_processes_of_a_command_are_killed_when_it_ends() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "sleep 600 & echo $! > child.pid";
    session.succeeds("run_shell_monitored", json!({ "command": command }));
    wait_until_exited(&root.read("child.pid"));
}

#[test]
fn commands_are_killed_when_the_client_disconnects() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let arguments =
        json!({ "command": "echo $$ > shell.pid; exec sleep 600", "timeout_seconds": 600 });
    session.begin("tools/call", json!({ "name": "run_shell_monitored", "arguments": arguments }));
    let pid = root.path().join("shell.pid");
    wait_for("the command to start", || {
        std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    });
    session.end();
    wait_until_exited(&root.read("shell.pid"));
}

#[test]
fn long_output_keeps_its_beginning_and_end() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command =
        "echo first; i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; echo last";
    let result = session.succeeds("run_shell_monitored", json!({ "command": command }));
    let stdout = result["structuredContent"]["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("first\n") && stdout.ends_with("last\n"), "{}", stdout.len());
    assert!(stdout.len() < 40_000 && stdout.contains("bytes omitted"), "{}", stdout.len());
}

#[test]
fn arguments_are_not_interpreted_by_a_shell() {
    let root = Root::new();
    let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
    let mut session = Session::gateway("files", &root.path(), &options);
    let result = session.succeeds("run_tests", json!({ "filter": "a; touch ran $(touch ran)" }));
    let output = result["structuredContent"]["stdout"].as_str().unwrap();
    assert_eq!(output, "tested: a; touch ran $(touch ran)\n");
    assert!(!root.path().join("ran").exists());
    let help = session.fails("run_tests", json!({ "filter": "--help" }));
    assert!(help.contains("`/filter`"), "{help}");
}

#[test]
fn failing_tests_are_reported_as_failed() {
    let root = Root::new();
    root.write("run-tests.sh", "echo broken >&2; exit 3\n");
    let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
    let mut session = Session::gateway("project", &root.path(), &options);
    let result = session.succeeds("run_test_task", json!({ "test_path": "tests" }));
    assert!(text(&result).starts_with("failed: sh run-tests.sh tests\nexit code 3"), "{result}");
    assert_eq!(result["structuredContent"]["passed"], false);
}

pub(crate) fn wait_until_exited(pid: &str) {
    let pid: i32 = pid.trim().parse().unwrap();
    wait_for("a process to end", || {
        let exists = test_kill_process(Pid::from_raw(pid).unwrap()).is_ok();
        // A zombie has exited as well.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !exists || stat.contains(") Z ")
    });
}

pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
