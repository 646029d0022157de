//! Jobs on other servers: validated, run and reported.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use stickler_reference::Servers;
use stickler_rmcp::McpConfig;

use crate::processes::wait_for;
use crate::root::{Root, has};
use crate::session::Session;

/// A server that does not announce `toolValidation` and appends the arguments of calls to a file.
const PLAIN_SERVER: &str = r#"
import json, sys
TOOL = {"name": "send_report", "description": "Sends the report to a list", "inputSchema": {
    "type": "object", "properties": {"list": {"type": "string"}}, "required": ["list"]}}
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "plain", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "tools/call":
        with open("sent.txt", "a") as file:
            file.write(params["arguments"]["list"] + "\n")
        result = {"content": [{"type": "text", "text": "sent"}]}
    else:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// Writes the configuration of a client with a server `notes`, which validates calls, and a server
/// `plain`, which does not.
fn client_configuration(root: &Root, notes: &Path) -> String {
    std::fs::write(root.beside("other/plain.py"), PLAIN_SERVER).unwrap();
    let binary = env!("CARGO_BIN_EXE_stickler");
    let config = json!({ "mcpServers": {
        "notes": { "command": binary, "args": ["serve", "--suite", "files", "--root", notes] },
        "plain": { "command": "python3", "args": ["plain.py"], "cwd": root.beside("other") },
        "broken": { "command": "no-such-program" },
        "off": { "command": "x", "disabled": true },
    }});
    let path = root.beside("mcp.json");
    std::fs::write(&path, config.to_string()).unwrap();
    path.display().to_string()
}

fn last_run(session: &mut Session, job: &str) -> Value {
    let jobs = session.succeeds("list_jobs", json!({ "name": job }));
    jobs["structuredContent"]["jobs"][0]["last_runs"][0].clone()
}

fn wait_until_finished(session: &mut Session, job: &str) -> Value {
    wait_for("the run to finish", || !last_run(session, job)["finished_at"].is_null());
    last_run(session, job)
}

#[test]
fn nightly_job_on_another_server_is_validated_run_and_reported() {
    let (root, notes) = (Root::new(), Root::new());
    let config = client_configuration(&root, &notes.path());
    let mut session = Session::gateway("scheduler", &root.path(), &["--config", &config]);
    let nightly = json!({
        "name": "nightly", "schedule": "30 2 * * *", "time_zone": "Europe/Berlin",
        "tool": "notes:write_file", "parameters": { "path": "night.txt", "content": "good night\n" },
    });
    // The other server rejects the call for a reason that only it can know.
    let mut outside = nightly.clone();
    outside["parameters"]["path"] = json!("../night.txt");
    let message = session.fails("schedule", outside);
    assert!(message.contains("`notes:write_file` is invalid"), "{message}");
    assert!(message.contains("outside the root"), "{message}");
    let job = session.succeeds("schedule", nightly)["structuredContent"].clone();
    assert_eq!(job["validated_by"], "server");
    assert!(job["next_run"].as_str().unwrap().contains("T02:30:00+0"), "{job}");
    // The night arrives: the time of the next run is moved to now.
    drop(session);
    set_due(&root, "nightly", unix_now() - 3600);
    let mut session = Session::gateway("scheduler", &root.path(), &["--config", &config]);
    let run = wait_until_finished(&mut session, "nightly");
    assert_eq!(run["state"], "succeeded", "{run}");
    assert_eq!(run["outcome"], "wrote 11 bytes to `night.txt`");
    assert_eq!(notes.read("night.txt"), "good night\n");
    let jobs = session.succeeds("list_jobs", json!({}));
    let job = &jobs["structuredContent"]["jobs"][0];
    assert_eq!(job["finished_runs"], 1);
    assert!(job["next_run"].as_str().unwrap().contains("T02:30:00+0"), "{job}");
}

fn unix_now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

fn set_due(root: &Root, job: &str, at: i64) {
    let state = rusqlite::Connection::open(root.path().join(".stickler/state.db")).unwrap();
    let sql = "update scheduled_jobs set next_run = ?1 where name = ?2";
    assert_eq!(state.execute(sql, rusqlite::params![at, job]).unwrap(), 1);
}

#[test]
fn server_without_the_capability_is_validated_by_schema_and_logged() {
    if !has("python3") {
        return;
    }
    let root = Root::new();
    let config = client_configuration(&root, &root.beside("other"));
    let log = std::fs::File::create(root.beside("log")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.args(["serve", "--suite", "scheduler", "--log", "info", "--config", &config, "--root"]);
    let mut session = Session::start(command.arg(root.path()).stderr(Stdio::from(log)));
    let job = |parameters: Value| json!({ "name": "once", "schedule": "in 1ms", "tool": "plain:send_report", "parameters": parameters });
    let message = session.fails("schedule", job(json!({ "lst": "team" })));
    assert!(message.contains("did you mean `list`"), "{message}");
    let made = session.succeeds("schedule", job(json!({ "list": "team" })));
    assert_eq!(made["structuredContent"]["validated_by"], "schema");
    let run = wait_until_finished(&mut session, "once");
    assert_eq!((&run["state"], &run["outcome"]), (&json!("succeeded"), &json!("sent")), "{run}");
    let sent = std::fs::read_to_string(root.beside("other/sent.txt")).unwrap();
    assert_eq!(sent, "team\n", "a single run is made once, and validation makes no call");
    let jobs = session.succeeds("list_jobs", json!({}));
    assert_eq!(jobs["structuredContent"]["jobs"][0]["next_run"], Value::Null);
    let log = std::fs::read_to_string(root.beside("log")).unwrap();
    assert!(log.contains("the server does not validate calls; using the tool's schema"), "{log}");
}

#[test]
fn capabilities_of_several_servers_are_known() {
    if !has("python3") {
        return;
    }
    let root = Root::new();
    client_configuration(&root, &root.beside("other"));
    let notes = McpConfig::new("notes", env!("CARGO_BIN_EXE_stickler"))
        .args(["serve", "--suite", "files", "--root"])
        .args([root.path().display().to_string()]);
    let plain =
        McpConfig::new("plain", "python3").args(["plain.py"]).current_dir(root.beside("other"));
    let servers = Servers::new([("notes".to_owned(), notes), ("plain".to_owned(), plain)]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = "experimental.toolValidation";
        assert_eq!(servers.has_capability("notes", path).await, Ok(true));
        assert_eq!(servers.has_capability("notes", "tools").await, Ok(true));
        assert_eq!(servers.has_capability("plain", path).await, Ok(false));
        let unknown = servers.has_capability("note", path).await.unwrap_err();
        assert!(unknown.contains("did you mean `notes`?"), "{unknown}");
        let sent = servers.call("plain:send_report", json!({ "list": "team" })).await.unwrap();
        assert_eq!(sent.text(), "sent");
    });
}

#[test]
fn unreachable_server_is_named_in_the_error() {
    let root = Root::new();
    let config = client_configuration(&root, &root.beside("other"));
    let mut session = Session::gateway("scheduler", &root.path(), &["--config", &config]);
    let job = |tool: &str| json!({ "name": "j", "schedule": "@daily", "tool": tool });
    let message = session.fails("schedule", job("broken:x"));
    assert!(message.contains("cannot connect to the server `broken`"), "{message}");
    let message = session.fails("schedule", job("off:x"));
    assert!(message.contains("the server `off` is not configured"), "{message}");
}

#[test]
fn job_that_became_invalid_is_rejected_and_not_called() {
    let root = Root::new();
    let mut session = Session::gateway("scheduler", &root.path(), &[]);
    let job = json!({
        "name": "edit", "schedule": "@daily", "tool": "sandbox:apply_surgical_edits",
        "parameters": { "path": "README.md", "edits": [{ "old_text": "teh", "new_text": "the" }] },
    });
    session.succeeds("schedule", job);
    root.write("README.md", "nothing to replace\n");
    set_due(&root, "edit", unix_now());
    let run = wait_until_finished(&mut session, "edit");
    assert_eq!(run["state"], "rejected", "{run}");
    assert!(run["outcome"].as_str().unwrap().contains("does not occur in the file"), "{run}");
    assert_eq!(run["called_at"], Value::Null);
    assert_eq!(root.read("README.md"), "nothing to replace\n");
}

#[test]
fn missed_times_are_one_run_with_a_count() {
    let root = Root::new();
    let mut session = Session::direct("scheduler", &root.path(), &[]);
    let parameters = json!({ "action": "append", "path": "log.txt", "content": "x\n" });
    let job = json!({ "name": "hourly", "schedule": "0 * * * *", "tool": "sandbox:filesystem_operation", "parameters": parameters });
    session.succeeds("schedule", job);
    session.end();
    let hour = unix_now() / 3600 * 3600;
    set_due(&root, "hourly", hour - 5 * 3600);
    let mut session = Session::direct("scheduler", &root.path(), &[]);
    let run = wait_until_finished(&mut session, "hourly");
    assert_eq!((&run["state"], &run["skipped_after"]), (&json!("succeeded"), &json!(5)), "{run}");
    assert_eq!(root.read("log.txt"), "x\n");
}

#[test]
fn second_scheduler_of_a_root_waits_for_the_first() {
    let root = Root::new();
    let mut first = Session::direct("scheduler", &root.path(), &[]);
    let parameters = json!({ "action": "append", "path": "log.txt", "content": "x\n" });
    let job = |name: &str| json!({ "name": name, "schedule": "in 1ms", "tool": "sandbox:filesystem_operation", "parameters": parameters });
    first.succeeds("schedule", job("a"));
    wait_until_finished(&mut first, "a");
    let mut second = Session::direct("scheduler", &root.path(), &[]);
    second.succeeds("schedule", job("b"));
    wait_until_finished(&mut second, "b");
    first.kill();
    second.succeeds("schedule", job("c"));
    wait_until_finished(&mut second, "c");
    assert_eq!(root.read("log.txt"), "x\nx\nx\n");
}
