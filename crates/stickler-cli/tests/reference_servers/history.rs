//! What tools and programs did is recorded and can be searched.

use serde_json::{Value, json};

use crate::root::Root;
use crate::session::Session;

fn entries(result: &Value) -> Vec<Value> {
    result["structuredContent"]["entries"].as_array().unwrap().clone()
}

#[test]
fn logs_and_memory_show_calls_of_all_suites() {
    let root = Root::new();
    let mut sandbox =
        Session::gateway("sandbox", &root.path(), &["--allow-shell", "--task-id", "task-7"]);
    let command = "echo compiling the flux capacitor; echo 'undefined symbol' >&2; exit 2";
    sandbox.succeeds("run_shell_monitored", json!({ "command": command }));
    sandbox.fails("filesystem_operation", json!({ "action": "read", "path": "missing.txt" }));
    let call = json!({
        "name": "filesystem_operation", "arguments": { "action": "read", "path": "README.md" },
        "_meta": { "dev.stickler/task_id": "task-8" },
    });
    sandbox.request("tools/call", call);

    let mut project = Session::gateway("project", &root.path(), &[]);
    let note = json!({ "task_id": "task-7", "message": "the build is broken", "level": "error" });
    project.succeeds("capture_trace", note);
    let logs = entries(&project.succeeds("get_logs", json!({})));
    let messages: Vec<&str> =
        logs.iter().map(|entry| entry["data"]["message"].as_str().unwrap()).collect();
    assert_eq!(messages[0], "`run_shell_monitored` succeeded: exit code 2");
    assert!(
        messages[1].starts_with("`filesystem_operation` failed: `missing.txt`"),
        "{messages:?}"
    );
    assert_eq!(messages[3], "the build is broken");
    let output = logs[0]["data"]["output"].as_str().unwrap();
    assert!(output.contains("flux capacitor") && output.contains("undefined symbol"), "{output}");
    let warnings = entries(&project.succeeds("get_logs", json!({ "level": "warn" })));
    assert_eq!(warnings.len(), 2, "{warnings:?}");

    let mut orchestrator = Session::gateway("orchestrator", &root.path(), &[]);
    let trace = orchestrator.succeeds("get_task_trace", json!({ "task_id": "task-7" }));
    assert_eq!(trace["structuredContent"]["events"].as_array().unwrap().len(), 3);
    let trace = orchestrator.succeeds("get_task_trace", json!({ "task_id": "task-8" }));
    let events = &trace["structuredContent"]["events"];
    assert_eq!(events[0]["data"]["arguments"]["path"], "README.md");
    // Words are found in the output of programs, in another form and order.
    let found = orchestrator.succeeds("search_memory", json!({ "query": "capacitors compile" }));
    assert_eq!(entries(&found)[0]["data"]["tool"], "run_shell_monitored");
    // Operators of the search engine are ordinary words.
    for query in ["NEAR(", "\"", "a AND *", "-x:"] {
        orchestrator.succeeds("search_memory", json!({ "query": query }));
    }
}

#[test]
fn nothing_is_recorded_without_history() {
    let root = Root::new();
    let mut session = Session::gateway("files", &root.path(), &["--no-history"]);
    session.succeeds("write_file", json!({ "path": "a.txt", "content": "x" }));
    assert!(!root.path().join(".stickler").exists());
}

#[test]
fn shell_command_reports_progress_while_it_runs() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let command = "for step in one two three; do echo step $step; sleep 1; done";
    let call = json!({
        "name": "run_shell_monitored", "arguments": { "command": command },
        "_meta": { "progressToken": "shell" },
    });
    let response = session.request("tools/call", call.clone());
    assert_eq!(response["result"]["structuredContent"]["exit_code"], 0, "{response}");
    let progress: Vec<&Value> = session
        .received
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"])
        .collect();
    assert!(progress.iter().all(|params| params["progressToken"] == "shell"), "{progress:?}");
    let last = progress.last().unwrap_or_else(|| panic!("no progress was reported"));
    assert_eq!(last["message"], "step three");
    let values: Vec<f64> =
        progress.iter().map(|params| params["progress"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    // Without a token, there are no notifications.
    session.received.clear();
    session.succeeds("run_shell_monitored", call["arguments"].clone());
    assert_eq!(session.received, [Value::Null; 0]);
}
