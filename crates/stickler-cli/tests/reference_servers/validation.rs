//! `validate`: what a tool would say, without calling it.

use serde_json::{Value, json};

use crate::root::Root;
use crate::session::Session;

fn ask(session: &mut Session, tool: &str, arguments: Value) -> Value {
    let question = json!({ "tool": tool, "arguments": arguments });
    session.works("validate", question)["structuredContent"].clone()
}

fn job(schedule: &str, tool: &str, parameters: Value) -> Value {
    json!({ "name": "job", "schedule": schedule, "tool": tool, "parameters": parameters })
}

#[test]
fn the_scheduler_checks_what_only_it_can_know() {
    let root = Root::new();
    let before = root.snapshot();
    let mut session = Session::gateway("scheduler", &root.path(), &[]);
    let note = json!({ "path": "a.txt", "content": "x" });
    for (arguments, part) in [
        (job("every day", "write_file", note.clone()), "is no cron expression"),
        (job("0 25 * * *", "write_file", note.clone()), "`25` is no hour"),
        (job("@daily", "write_fle", note.clone()), "did you mean `write_file`?"),
        (job("@daily", "sandbox:write_file", note.clone()), "there is no tool"),
        (job("@daily", "write_file", json!({ "path": "a.txt" })), "would refuse the parameters"),
        (job("@daily", "read_file", json!({ "path": "../x" })), "outside the root"),
        (job("@daily", "run_shell_monitored", json!({ "command": "ls" })), "--allow-shell"),
    ] {
        let report = ask(&mut session, "schedule", arguments.clone());
        assert_eq!(report["valid"], false, "{arguments}");
        let errors = report["errors"].to_string();
        assert!(errors.contains(part), "{arguments}: {errors}");
        // The call itself is refused for the same reason.
        assert!(session.fails("schedule", arguments).contains(part));
    }
    let report = ask(&mut session, "schedule", job("0 9 * * 1-5", "files:write_file", note));
    assert_eq!((&report["valid"], &report["errors"]), (&json!(true), &json!([])));
    assert_eq!(root.snapshot(), before);
}

#[test]
fn a_server_says_more_than_its_schema_and_warns_without_refusing() {
    let root = Root::new();
    let mut session = Session::gateway("files", &root.path(), &[]);
    let report = ask(&mut session, "write_file", json!({ "path": "a.txt", "content": "" }));
    assert_eq!(report["valid"], true);
    assert!(report["warnings"][0].as_str().unwrap().contains("will leave `a.txt` empty"));
    let report = ask(&mut session, "write_file", json!({ "content": "" }));
    assert_eq!(report["valid"], false);
    assert!(report["errors"][0].as_str().unwrap().contains("`path` is required"), "{report}");
    let report = ask(&mut session, "write_file", json!({ "path": "/etc/passwd", "content": "x" }));
    assert_eq!(report["valid"], false);
    assert!(report["errors"][0].as_str().unwrap().contains("absolute path"), "{report}");
    assert!(!root.path().join("a.txt").exists());
}

#[test]
fn a_reference_server_announces_that_it_validates() {
    let root = Root::new();
    for (suite, _) in crate::SUITES {
        let mut session = Session::direct(suite, &root.path(), &[]);
        let capability = &session.capabilities["experimental"]["toolValidation"];
        assert_eq!(capability["supported"], true, "{suite}");
        assert_eq!(capability["method"], "validate", "{suite}");
        assert_eq!(capability["levels"]["semantic"], true, "{suite}");
        assert!(session.tools().iter().any(|tool| tool["name"] == "validate"), "{suite}");
    }
}

#[test]
fn a_name_is_scheduled_once() {
    let root = Root::new();
    let mut session = Session::gateway("scheduler", &root.path(), &[]);
    let arguments = job("@daily", "read_file", json!({ "path": "README.md" }));
    session.works("schedule", arguments.clone());
    assert!(session.fails("schedule", arguments).contains("there is a job `job` already"));
    session.works("cancel_job", json!({ "name": "job" }));
    let said = session.fails("cancel_job", json!({ "name": "job" }));
    assert!(said.contains("there is no job `job`; the jobs are: none"), "{said}");
}
