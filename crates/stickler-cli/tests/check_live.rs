//! `stickler check` on servers that are there: started, reached, tried, and left as they were.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

#[path = "support/http.rs"]
mod http;
mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use http::{Gateway, scripted_server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Run, Scratch, stickler};

/// The tools of the scripted server.
const TOOLS: usize = 7;

/// A report in JSON.
struct Checked {
    run: Run,
    findings: Vec<Value>,
    summary: Value,
}

impl Checked {
    fn of(run: Run) -> Self {
        let mut lines: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        let last = lines.pop().unwrap_or_else(|| panic!("no report: {}", run.stderr));
        Self { run, findings: lines, summary: last["summary"].clone() }
    }

    /// The severities of all findings of a rule.
    fn of_rule(&self, rule: &str) -> Vec<&str> {
        let found = self.findings.iter().filter(|one| one["rule"] == rule);
        found.map(|one| one["severity"].as_str().unwrap()).collect()
    }

    /// The grades of a probe.
    fn grades(&self, probe: &str) -> Vec<&str> {
        let probes = self.summary["probes"].as_array().unwrap().iter();
        let probes = probes.filter(|one| one["probe"] == probe);
        probes.map(|one| one["grade"].as_str().unwrap()).collect()
    }
}

/// What every check is started with: on a busy machine answers take their time.
fn patiently<'o>(options: &[&'o str]) -> Vec<&'o str> {
    let mut arguments = vec!["check", "--format", "json"];
    if !options.contains(&"--timeout") {
        arguments.extend(["--timeout", "60"]);
    }
    arguments.extend(options);
    arguments
}

/// Checks the scripted server in some mode.
fn check_mode(mode: &str, options: &[&str]) -> Checked {
    let server = scripted_server();
    let mut arguments = patiently(options);
    arguments.extend(["--", server.to_str().unwrap(), "--mode", mode]);
    Checked::of(stickler(&arguments))
}

/// The same with all messages that reach it.
fn check_logged(mode: &str, name: &str, options: &[&str]) -> (Checked, Vec<Value>) {
    let log = Scratch::new(name, b"");
    let server = scripted_server();
    let mut arguments = patiently(options);
    arguments.extend(["--", server.to_str().unwrap(), "--log", log.path(), "--mode", mode]);
    let checked = Checked::of(stickler(&arguments));
    let text = std::fs::read_to_string(log.path()).unwrap();
    (checked, text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn calls(messages: &[Value]) -> Vec<&Value> {
    let calls = messages.iter().filter(|one| one["method"] == "tools/call");
    calls.map(|one| &one["params"]).collect()
}

#[test]
fn a_server_that_names_the_field() {
    let checked = check_mode("strict,reading", &[]);
    assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
    assert_eq!(checked.summary["server"], "scripted 1");
    assert_eq!(checked.summary["revision"], "2025-11-25");
    for probe in [
        "unknown method",
        "bad parameters",
        "call without a name",
        "unknown tool",
        "missing field",
        "wrong type",
        "unknown field",
    ] {
        assert_eq!(checked.grades(probe), ["names the field"], "{probe}");
    }
    assert_eq!(checked.grades("ping"), ["answered"]);
    assert_eq!(checked.grades("still there"), ["answered"]);
    // What no official SDK does either.
    assert_eq!(checked.of_rule("probe-silent"), ["note"]);
    assert_eq!(checked.summary["warnings"], 0, "{}", checked.run.stdout);
}

#[test]
fn a_server_that_accepts_everything() {
    let checked = check_mode("reading", &["--deny", "warning", "--probe-limit", "1"]);
    assert_eq!(checked.run.status, 1);
    for probe in ["missing field", "wrong type", "unknown field"] {
        assert_eq!(checked.grades(probe), ["accepted a wrong call"], "{probe}");
    }
    assert_eq!(checked.grades("unknown tool"), ["accepted a wrong call"]);
    assert!(checked.of_rule("probe-accepted").contains(&"warning"));
    assert_eq!(checked.summary["not_probed"].as_array().unwrap().len(), TOOLS - 1);
}

#[test]
fn a_server_that_is_vague() {
    let checked = check_mode("vague,reading", &[]);
    assert_eq!(checked.run.status, 0);
    for probe in ["missing field", "wrong type", "unknown field", "unknown tool"] {
        assert_eq!(checked.grades(probe), ["vague"], "{probe}");
    }
    assert!(checked.of_rule("probe-vague").iter().all(|severity| *severity == "note"));
}

#[test]
fn a_server_that_does_not_answer() {
    let checked = check_mode("mute,reading", &["--timeout", "1"]);
    assert_eq!(checked.grades("unknown tool"), ["silent"]);
    assert!(checked.of_rule("probe-silent").contains(&"warning"));
}

#[test]
fn tools_that_may_change_something_get_nothing_to_act_on() {
    let (checked, messages) = check_logged("strict", "changing.ndjson", &[]);
    let to_tools: Vec<&Value> =
        calls(&messages).into_iter().filter(|call| call["name"] == "echo").collect();
    let arguments: Vec<&Value> = to_tools.iter().map(|call| &call["arguments"]).collect();
    assert_eq!(arguments, [&json!({}), &json!({ "text": null })]);
    assert_eq!(checked.grades("unknown field"), [""; 0]);
}

#[test]
fn without_probes_nothing_is_called() {
    let (checked, messages) = check_logged("reading", "no-probe.ndjson", &["--no-probe"]);
    assert_eq!(checked.run.status, 0);
    let methods: Vec<&Value> = messages.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(checked.summary["probes"], json!([]));
}

#[test]
fn all_pages_are_listed() {
    let checked = check_mode("pages", &["--no-probe"]);
    assert_eq!(checked.summary["coverage"]["tools"], TOOLS);
    assert_eq!(checked.summary["coverage"]["schema"], TOOLS);
}

#[test]
fn a_server_of_the_modern_era() {
    for options in [&[][..], &["--revision", "2026-07-28"][..]] {
        let checked = check_mode("modern,strict,reading", options);
        assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
        assert_eq!(checked.summary["revision"], "2026-07-28");
        assert_eq!(checked.summary["coverage"]["tools"], 1);
        assert_eq!(checked.grades("missing field"), ["names the field"]);
        assert_eq!(checked.grades("ping"), [""; 0], "there is none any more");
    }
}

#[test]
fn what_a_server_prints_is_noise() {
    let checked = check_mode("noise", &["--no-probe"]);
    assert_eq!(checked.of_rule("stdout-noise"), ["warning"]);
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("stdout-noise"), [""; 0]);
}

#[test]
fn definitions_are_examined() {
    let checked = check_mode("bare,broken", &["--no-probe"]);
    assert_eq!(checked.run.status, 1);
    assert_eq!(checked.of_rule("no-description").len(), TOOLS);
    assert_eq!(checked.of_rule("STK-108"), ["error"], "told once, by the definition's own rules");
    assert_eq!(checked.of_rule("unresolvable-ref"), ["error"]);
    let coverage = &checked.summary["coverage"];
    assert_eq!((&coverage["schema"], &coverage["description"]), (&json!(TOOLS - 1), &json!(0)));
}

#[test]
fn a_server_without_tools() {
    let checked = check_mode("toolless", &[]);
    assert_eq!((checked.run.status, checked.of_rule("no-tools")), (0, vec!["note"]));
}

#[test]
fn a_server_that_dies_is_started_again() {
    let checked = check_mode("", &[]);
    assert_eq!(checked.run.status, 1);
    assert_eq!(checked.of_rule("probe-died"), ["error", "error"]);
    let probes = checked.summary["probes"].as_array().unwrap();
    assert!(probes.iter().any(|probe| probe["tool"] == "region"), "the tool after it");
}

/// Whether a process has that text on its command line; `None` where nobody tells.
fn is_running(text: &str) -> Option<bool> {
    let processes = std::fs::read_dir("/proc").ok()?;
    let has = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    Some(processes.flatten().any(has))
}

#[test]
fn a_server_that_stays_is_made_to_end() {
    let (checked, _) = check_logged("stays", "stays.ndjson", &["--no-probe", "--timeout", "1"]);
    assert_eq!(checked.of_rule("keeps-running"), ["warning"]);
    eventually("it is still there", || is_running("stays.ndjson") != Some(true));
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("keeps-running"), [""; 0]);
}

/// Waits for something to become so.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_interrupted_check_leaves_nothing_behind() {
    let log = Scratch::new("interrupted.ndjson", b"");
    let mut check = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["check", "--timeout", "60", "--"])
        .arg(scripted_server())
        .args(["--log", log.path(), "--mode", "mute"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let is_waiting = || std::fs::read_to_string(log.path()).unwrap().contains("tools/call");
    eventually("the server was not called", is_waiting);
    kill_process(Pid::from_child(&check), Signal::INT).unwrap();
    assert_eq!(check.wait().unwrap().code(), Some(130));
    eventually("the server is still there", || is_running("interrupted.ndjson") != Some(true));
}

#[test]
fn processes_that_are_left_are_told_and_ended() {
    if !Path::new("/proc/self/stat").exists() {
        eprintln!("skipped: the system does not tell about processes");
        return;
    }
    let checked = check_mode("orphan", &["--no-probe"]);
    assert_eq!(checked.of_rule("left-behind"), ["warning"]);
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("left-behind"), [""; 0]);
}

#[test]
fn what_cannot_be_talked_to_exits_with_3() {
    let nobody = format!("http://127.0.0.1:{}/mcp", http::free_port());
    for arguments in [
        vec!["check", "--", "/nowhere/server"],
        vec!["check", "--", "true"],
        vec!["check", "--start-timeout", "1", "--", "sleep", "30"],
        vec!["check", "--url", &nobody],
    ] {
        let run = stickler(&arguments);
        assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{arguments:?}");
        assert!(run.stderr.contains("[STK-101]"), "{}", run.stderr);
    }
    let run = stickler(&["check", "--", "sh", "-c", "echo no key given >&2; exit 1"]);
    assert!(run.stderr.contains("no key given"), "{}", run.stderr);
}

#[test]
fn servers_behind_a_url() {
    let gateway = Gateway::scripted(&["--quiet-capability"]);
    let url = format!("http://127.0.0.1:{}/mcp", gateway.port);
    for options in [&[][..], &["--revision", "2026-07-28"][..]] {
        let mut arguments = patiently(options);
        arguments.extend(["--url", &url]);
        let checked = Checked::of(stickler(&arguments));
        assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
        assert_eq!(checked.summary["coverage"]["tools"], TOOLS);
        // The gateway answers in place of a server that would accept everything, or die.
        let grades = checked.grades("missing field");
        assert_eq!(grades, ["names the field"; TOOLS], "{}", checked.run.stdout);
        assert_eq!(checked.of_rule("keeps-running"), [""; 0]);
    }
}

#[test]
fn the_report_for_people_says_what_was_tried() {
    let server = scripted_server();
    let server = server.to_str().unwrap();
    let run = stickler(&["check", "--", server, "--mode", "strict,reading"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    for part in [
        "scripted_server (scripted 1, MCP 2025-11-25)",
        "What was tried",
        "names the field",
        "Coverage: schema 1 of 1, description 1 of 1, valid example 1 of 1",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in\n{}", run.stdout);
    }
}
