//! Programs: only where they are allowed, within their time, and never left behind.

use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use serde_json::json;

use crate::root::Root;
use crate::session::{Session, text};

#[test]
fn without_leave_no_program_is_run() {
    let root = Root::new();
    let before = root.snapshot();
    for (suite, tool, arguments) in [
        ("sandbox", "run_shell_monitored", json!({ "command": "touch ran" })),
        ("sandbox", "dependency_manager", json!({ "action": "remove", "package": "serde" })),
        ("files", "run_tests", json!({})),
        ("project", "run_test_task", json!({ "test_path": "tests" })),
    ] {
        let mut session = Session::gateway(suite, &root.path(), &["--test-command", "touch ran"]);
        let said = session.fails(tool, arguments);
        assert!(said.contains("--allow-shell") && said.contains("nothing was run"), "{said}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "sleep 600 & echo $! > child.pid; echo started; wait";
    let arguments = json!({ "command": command, "timeout_seconds": 1 });
    let result = session.works("run_shell_monitored", arguments);
    assert_eq!(result["structuredContent"]["timed_out"], true);
    assert!(text(&result).contains("ran out of time"), "{result}");
    wait_until_gone(&root.read("child.pid"));
    // The server is none the worse for it.
    let result = session.works("run_shell_monitored", json!({ "command": "echo next" }));
    assert_eq!(result["structuredContent"]["stdout"], "next\n");
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "sleep 600 & echo $! > child.pid";
    session.works("run_shell_monitored", json!({ "command": command }));
    wait_until_gone(&root.read("child.pid"));
}

#[test]
fn commands_end_when_the_client_goes_away() {
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
    wait_until_gone(&root.read("shell.pid"));
}

#[test]
fn output_is_bounded_and_keeps_both_ends() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command =
        "echo first; i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; echo last";
    let result = session.works("run_shell_monitored", json!({ "command": command }));
    let stdout = result["structuredContent"]["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("first\n") && stdout.ends_with("last\n"), "{}", stdout.len());
    assert!(stdout.len() < 40_000 && stdout.contains("bytes left out"), "{}", stdout.len());
}

#[test]
fn arguments_are_no_shell_code() {
    let root = Root::new();
    let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
    let mut session = Session::gateway("files", &root.path(), &options);
    let result = session.works("run_tests", json!({ "filter": "a; touch ran $(touch ran)" }));
    let said = result["structuredContent"]["stdout"].as_str().unwrap();
    assert_eq!(said, "tested: a; touch ran $(touch ran)\n");
    assert!(!root.path().join("ran").exists());
    let help = session.fails("run_tests", json!({ "filter": "--help" }));
    assert!(help.contains("`/filter`"), "{help}");
}

#[test]
fn tests_that_fail_are_told_as_failed() {
    let root = Root::new();
    root.write("run-tests.sh", "echo broken >&2; exit 3\n");
    let options = ["--allow-shell", "--test-command", "sh run-tests.sh"];
    let mut session = Session::gateway("project", &root.path(), &options);
    let result = session.works("run_test_task", json!({ "test_path": "tests" }));
    assert!(text(&result).starts_with("failed: sh run-tests.sh tests\nexit code 3"), "{result}");
    assert_eq!(result["structuredContent"]["passed"], false);
}

pub(crate) fn wait_until_gone(pid: &str) {
    let pid: i32 = pid.trim().parse().unwrap();
    wait_for("a process to end", || {
        let there = test_kill_process(Pid::from_raw(pid).unwrap()).is_ok();
        // One that nobody has asked about yet is gone, too.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !there || stat.contains(") Z ")
    });
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
