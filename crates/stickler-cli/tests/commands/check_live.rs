//! `stickler check` on running servers: probes, grades, and cleanup of the processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::command::{Run, Scratch, stickler};
use crate::support::http::{Gateway, scripted_server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

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

/// Common arguments of every check; the default timeout is long because the machine may be busy.
fn check_arguments<'o>(options: &[&'o str]) -> Vec<&'o str> {
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
    let mut arguments = check_arguments(options);
    arguments.extend(["--", server.to_str().unwrap(), "--mode", mode]);
    Checked::of(stickler(&arguments))
}

/// Does the same and returns the messages that the server received.
fn check_logged(mode: &str, name: &str, options: &[&str]) -> (Checked, Vec<Value>) {
    let log = Scratch::new(name, b"");
    let server = scripted_server();
    let mut arguments = check_arguments(options);
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
fn strict_server_is_graded_as_naming_the_field() {
    let checked = check_mode("strict,read-only", &[]);
    assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
    assert_eq!(checked.summary["server"], "scripted 1");
    assert_eq!(checked.summary["revision"], "2025-11-25");
    assert_eq!(checked.grades("unknown method"), ["rejected"]);
    for probe in [
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
    // The official SDKs do not respond to malformed JSON either, so it is not a finding.
    assert_eq!(checked.grades("malformed JSON"), ["silent"]);
    assert_eq!(checked.of_rule("probe-silent"), [""; 0]);
    assert_eq!(checked.summary["warnings"], 0, "{}", checked.run.stdout);
}

#[test]
fn permissive_server_is_reported_as_accepting_wrong_calls() {
    let checked = check_mode("read-only", &["--deny", "warning", "--probe-limit", "1"]);
    assert_eq!(checked.run.status, 1);
    for probe in ["missing field", "wrong type", "unknown field"] {
        assert_eq!(checked.grades(probe), ["accepted a wrong call"], "{probe}");
    }
    assert_eq!(checked.grades("unknown tool"), ["accepted a wrong call"]);
    assert!(checked.of_rule("probe-accepted").contains(&"warning"));
    assert_eq!(checked.summary["not_probed"].as_array().unwrap().len(), TOOLS - 1);
}

#[test]
fn vague_server_errors_are_reported_as_notes() {
    let checked = check_mode("vague,read-only", &[]);
    assert_eq!(checked.run.status, 0);
    for probe in ["missing field", "wrong type", "unknown field", "unknown tool"] {
        assert_eq!(checked.grades(probe), ["vague"], "{probe}");
    }
    assert!(checked.of_rule("probe-vague").iter().all(|severity| *severity == "note"));
}

#[test]
fn unresponsive_server_is_reported_as_silent() {
    let checked = check_mode("silent,read-only", &["--timeout", "1"]);
    assert_eq!(checked.grades("unknown tool"), ["silent"]);
    assert!(checked.of_rule("probe-silent").contains(&"warning"));
}

#[test]
fn tools_without_a_read_only_hint_are_probed_without_usable_arguments() {
    let (checked, messages) = check_logged("strict", "changing.ndjson", &[]);
    let to_tools: Vec<&Value> =
        calls(&messages).into_iter().filter(|call| call["name"] == "echo").collect();
    let arguments: Vec<&Value> = to_tools.iter().map(|call| &call["arguments"]).collect();
    assert_eq!(arguments, [&json!({}), &json!({ "text": null })]);
    assert_eq!(checked.grades("unknown field"), [""; 0]);
}

#[test]
fn no_probe_option_sends_no_tool_calls() {
    let (checked, messages) = check_logged("read-only", "no-probe.ndjson", &["--no-probe"]);
    assert_eq!(checked.run.status, 0);
    let methods: Vec<&Value> = messages.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(checked.summary["probes"], json!([]));
}

#[test]
fn all_pages_of_the_tool_list_are_checked() {
    let checked = check_mode("paginated", &["--no-probe"]);
    assert_eq!(checked.summary["coverage"]["tools"], TOOLS);
    assert_eq!(checked.summary["coverage"]["schema"], TOOLS);
}

#[test]
fn modern_server_is_checked_without_a_handshake() {
    for options in [&[][..], &["--revision", "2026-07-28"][..]] {
        let checked = check_mode("modern,strict,read-only", options);
        assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
        assert_eq!(checked.summary["revision"], "2026-07-28");
        assert_eq!(checked.summary["coverage"]["tools"], 1);
        assert_eq!(checked.grades("missing field"), ["names the field"]);
        assert_eq!(checked.grades("ping"), [""; 0], "2026-07-28 has no `ping`");
    }
}

#[test]
fn text_on_server_stdout_is_reported_as_noise() {
    let checked = check_mode("noise", &["--no-probe"]);
    assert_eq!(checked.of_rule("stdout-noise"), ["warning"]);
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("stdout-noise"), [""; 0]);
}

#[test]
fn tool_definitions_of_a_live_server_are_linted() {
    let checked = check_mode("no-descriptions,broken-schema", &["--no-probe"]);
    assert_eq!(checked.run.status, 1);
    assert_eq!(checked.of_rule("no-description").len(), TOOLS);
    assert_eq!(
        checked.of_rule("STK-108"),
        ["error"],
        "reported once, by the rules for definitions"
    );
    assert_eq!(checked.of_rule("unresolvable-ref"), ["error"]);
    let coverage = &checked.summary["coverage"];
    assert_eq!((&coverage["schema"], &coverage["description"]), (&json!(TOOLS - 1), &json!(0)));
}

#[test]
fn server_without_tools_is_reported_as_a_note() {
    let checked = check_mode("no-tools", &[]);
    assert_eq!((checked.run.status, checked.of_rule("no-tools")), (0, vec!["note"]));
}

#[test]
fn crashed_server_is_restarted_for_the_next_probe() {
    let checked = check_mode("", &[]);
    assert_eq!(checked.run.status, 1);
    assert_eq!(checked.of_rule("probe-died"), ["error", "error"]);
    let probes = checked.summary["probes"].as_array().unwrap();
    assert!(
        probes.iter().any(|probe| probe["tool"] == "region"),
        "the tool after the crash is probed"
    );
}

/// Whether a process has a text on its command line; `None` without `/proc`.
fn is_running(text: &str) -> Option<bool> {
    let processes = std::fs::read_dir("/proc").ok()?;
    let has = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    Some(processes.flatten().any(has))
}

#[test]
fn server_that_outlives_its_stdin_is_reported_and_killed() {
    let (checked, _) =
        check_logged("ignores-eof", "ignores-eof.ndjson", &["--no-probe", "--timeout", "1"]);
    assert_eq!(checked.of_rule("keeps-running"), ["warning"]);
    eventually("the server is still running", || is_running("ignores-eof.ndjson") != Some(true));
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("keeps-running"), [""; 0]);
}

/// Polls a condition; panics with the message after 20 seconds.
fn eventually(failure: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{failure}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn interrupted_check_kills_its_server() {
    let log = Scratch::new("interrupted.ndjson", b"");
    let mut check = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["check", "--timeout", "60", "--"])
        .arg(scripted_server())
        .args(["--log", log.path(), "--mode", "silent"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let is_waiting = || std::fs::read_to_string(log.path()).unwrap().contains("tools/call");
    eventually("the server was not called", is_waiting);
    kill_process(Pid::from_child(&check), Signal::INT).unwrap();
    assert_eq!(check.wait().unwrap().code(), Some(130));
    eventually("the server is still running", || is_running("interrupted.ndjson") != Some(true));
}

#[test]
fn orphaned_processes_are_reported_and_killed() {
    if !Path::new("/proc/self/stat").exists() {
        eprintln!("skipped: no /proc");
        return;
    }
    let (checked, _) = check_logged("orphan", "orphan.ndjson", &["--no-probe"]);
    assert_eq!(checked.of_rule("left-behind"), ["warning"]);
    eventually("the orphan is still running", || is_running("orphan.ndjson") == Some(false));
    assert_eq!(check_mode("", &["--no-probe"]).of_rule("left-behind"), [""; 0]);
}

#[test]
fn unreachable_server_exits_with_3() {
    let unreachable = format!("http://127.0.0.1:{}/mcp", crate::support::http::free_port());
    for arguments in [
        vec!["check", "--", "/nowhere/server"],
        vec!["check", "--", "true"],
        vec!["check", "--start-timeout", "1", "--", "sleep", "30"],
        vec!["check", "--url", &unreachable],
    ] {
        let run = stickler(&arguments);
        assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{arguments:?}");
        assert!(run.stderr.contains("[STK-101]"), "{}", run.stderr);
    }
    let run = stickler(&["check", "--", "sh", "-c", "echo no key given >&2; exit 1"]);
    assert!(run.stderr.contains("no key given"), "{}", run.stderr);
}

#[test]
fn servers_at_a_url_are_checked_in_both_eras() {
    let gateway = Gateway::scripted(&["--quiet-capability"]);
    let url = format!("http://127.0.0.1:{}/mcp", gateway.port);
    for options in [&[][..], &["--revision", "2026-07-28"][..]] {
        let mut arguments = check_arguments(options);
        arguments.extend(["--url", &url]);
        let checked = Checked::of(stickler(&arguments));
        assert_eq!(checked.run.status, 0, "{}", checked.run.stdout);
        assert_eq!(checked.summary["coverage"]["tools"], TOOLS);
        // The gateway rejects the probes that the server would accept or crash on.
        let grades = checked.grades("missing field");
        assert_eq!(grades, ["names the field"; TOOLS], "{}", checked.run.stdout);
        assert_eq!(checked.of_rule("keeps-running"), [""; 0]);
    }
}

#[test]
fn text_report_lists_probes_and_coverage() {
    let server = scripted_server();
    let server = server.to_str().unwrap();
    let run = stickler(&["check", "--", server, "--mode", "strict,read-only"]);
    let progress = "note: starting `scripted_server`\nnote: probing 1 tool\n";
    assert_eq!((run.status, run.stderr.as_str()), (0, progress));
    for part in [
        "scripted_server (scripted 1, MCP 2025-11-25)",
        "Probes",
        "names the field",
        "Coverage: schema 1 of 1, description 1 of 1, valid example 1 of 1",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in\n{}", run.stdout);
    }
}

#[test]
fn server_that_fails_every_call_is_reported_once() {
    let checked = check_mode("failing,read-only", &["--probe-limit", "3"]);
    assert_eq!(checked.of_rule("probe-failing"), ["warning"], "{}", checked.run.stdout);
    assert_eq!(checked.of_rule("probe-vague"), [""; 0]);
    assert_eq!(checked.of_rule("probe-accepted"), [""; 0]);
    assert!(
        checked.grades("missing field").iter().all(|grade| *grade == "fails like a valid call")
    );
}

#[test]
fn unknown_field_that_makes_no_difference_is_reported_as_ignored() {
    let checked = check_mode("read-only", &["--probe-limit", "1", "--rule", "probe-accepted"]);
    let messages: Vec<&str> =
        checked.findings.iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert!(
        messages
            .iter()
            .any(|one| one.starts_with("the unknown field `") && one.ends_with("` is ignored")),
        "{messages:?}"
    );
    assert!(checked.findings.iter().all(|one| one["rule"] == "probe-accepted"));
    assert!(checked.findings[0]["fix"].as_str().unwrap().contains("z.strictObject"));
}

#[test]
fn every_sarif_result_of_a_live_server_has_a_physical_location_and_a_fingerprint() {
    let artifact = Scratch::new("artifact-server.js", b"");
    let output = Scratch::new("live.sarif", b"");
    let server = scripted_server();
    let mut arguments = vec!["check", "--format", "sarif", "-o", output.path()];
    arguments.extend(["--artifact", artifact.path(), "--", server.to_str().unwrap()]);
    arguments.extend(["--mode", "no-descriptions,vague"]);
    let run = stickler(&arguments);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let log: Value = serde_json::from_slice(&std::fs::read(output.path()).unwrap()).unwrap();
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&json!("2.1.0"), 1));
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    let mut fingerprints: Vec<&str> = Vec::new();
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], format!("file://{}", artifact.path()));
        assert_eq!(place["region"]["startLine"], 1);
        assert_eq!(
            rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()]["id"],
            result["ruleId"]
        );
        assert!(matches!(result["level"].as_str().unwrap(), "error" | "warning" | "note"));
        fingerprints.push(result["partialFingerprints"]["sticklerFinding/v1"].as_str().unwrap());
    }
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), results.len(), "rule, tool and pointer identify a finding");
}

#[test]
fn sarif_without_a_file_to_refer_to_exits_with_2() {
    let run = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["check", "--format", "sarif", "--", "/no/such/server"])
        .current_dir("/")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(
        (run.status.code(), stderr.contains("--artifact FILE")),
        (Some(2), true),
        "{stderr}"
    );
}

#[test]
fn quiet_check_prints_only_findings_that_set_the_exit_code() {
    let server = scripted_server();
    let server = server.to_str().unwrap();
    let run = stickler(&["check", "--quiet", "--", server, "--mode", "strict,read-only"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let run = stickler(&["check", "-q", "--deny", "warning", "--", server, "--mode", "read-only"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("warning[") && !run.stdout.contains("note["), "{}", run.stdout);
    let run = stickler(&["check", "--ignore", "no-such-rule", "--", server]);
    assert_eq!((run.status, run.stderr.contains("unknown rule")), (2, true), "{}", run.stderr);
}

#[test]
fn output_of_a_server_that_hangs_is_shown() {
    let run =
        stickler(&["check", "--start-timeout", "1", "--", "sh", "-c", "echo Welcome; sleep 30"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("no response to `initialize`"), "{}", run.stderr);
    assert!(run.stderr.contains("standard output:\n  | Welcome"), "{}", run.stderr);
}
