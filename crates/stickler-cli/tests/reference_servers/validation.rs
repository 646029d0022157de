//! The tool `validate`: semantic validation of a call without making it.

use serde_json::{Value, json};

use crate::root::Root;
use crate::session::Session;

fn validate(session: &mut Session, tool: &str, arguments: Value) -> Value {
    let call = json!({ "tool": tool, "arguments": arguments });
    session.succeeds("validate", call)["structuredContent"].clone()
}

fn job(schedule: &str, tool: &str, parameters: Value) -> Value {
    json!({ "name": "job", "schedule": schedule, "tool": tool, "parameters": parameters })
}

#[test]
fn scheduler_validates_expressions_tools_and_parameters() {
    let root = Root::new();
    let mut session = Session::gateway("scheduler", &root.path(), &[]);
    let note = json!({ "path": "a.txt", "content": "x" });
    for (arguments, part) in [
        (job("every day", "files:write_file", note.clone()), "is not a cron expression"),
        (job("0 25 * * *", "files:write_file", note.clone()), "`25` is not a valid hour"),
        (job("2020-01-01T00:00", "files:write_file", note.clone()), "is in the past"),
        (job("@daily", "files:write_fle", note.clone()), "write_file"),
        (job("@daily", "write_file", note.clone()), "use `server:tool`"),
        (job("@daily", "file:write_file", note.clone()), "did you mean `files`?"),
        (job("@daily", "files:write_file", json!({ "path": "a.txt" })), "`content` is required"),
        (job("@daily", "files:read_file", json!({ "path": "../x" })), "outside the root"),
        (job("@daily", "sandbox:run_shell_monitored", json!({ "command": "ls" })), "--allow-shell"),
    ] {
        let report = validate(&mut session, "schedule", arguments.clone());
        assert_eq!(report["valid"], false, "{arguments}");
        let errors = report["errors"].to_string();
        assert!(errors.contains(part), "{arguments}: {errors}");
        // The call itself is rejected for the same reason.
        assert!(session.fails("schedule", arguments).contains(part));
    }
    let report = validate(&mut session, "schedule", job("0 9 * * 1-5", "files:write_file", note));
    assert_eq!((&report["valid"], &report["errors"]), (&json!(true), &json!([])));
    let jobs = session.succeeds("list_jobs", json!({}));
    assert_eq!(jobs["structuredContent"]["jobs"], json!([]));
    assert!(!root.path().join("a.txt").exists());
}

#[test]
fn semantic_validation_adds_errors_and_warnings() {
    let root = Root::new();
    let mut session = Session::gateway("files", &root.path(), &[]);
    let report = validate(&mut session, "write_file", json!({ "path": "a.txt", "content": "" }));
    assert_eq!(report["valid"], true);
    assert!(report["warnings"][0].as_str().unwrap().contains("will leave `a.txt` empty"));
    let report = validate(&mut session, "write_file", json!({ "content": "" }));
    assert_eq!(report["valid"], false);
    assert!(report["errors"][0].as_str().unwrap().contains("`path` is required"), "{report}");
    let report =
        validate(&mut session, "write_file", json!({ "path": "/etc/passwd", "content": "x" }));
    assert_eq!(report["valid"], false);
    assert!(report["errors"][0].as_str().unwrap().contains("absolute path"), "{report}");
    assert!(!root.path().join("a.txt").exists());
}

#[test]
fn every_suite_announces_tool_validation() {
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
fn duplicate_job_names_are_rejected() {
    let root = Root::new();
    let mut session = Session::gateway("scheduler", &root.path(), &[]);
    let arguments = job("@daily", "files:read_file", json!({ "path": "README.md" }));
    session.succeeds("schedule", arguments.clone());
    assert!(session.fails("schedule", arguments).contains("the job `job` already exists"));
    session.succeeds("cancel_job", json!({ "name": "job" }));
    let message = session.fails("cancel_job", json!({ "name": "job" }));
    assert!(message.contains("the job `job` does not exist; existing jobs: none"), "{message}");
}
