//! The suites as documented: their tools, schemas and working examples.

use serde_json::Value;

use crate::SUITES;
use crate::root::{Root, has_git};
use crate::session::{Session, text};

/// Options that permit all examples.
pub(crate) const ALLOWED: [&str; 4] =
    ["--allow-shell", "--allow-sql-writes", "--test-command", "sh run-tests.sh"];

pub(crate) const VALIDATION_TOOLS: [&str; 2] = ["validate", "stickler_validate"];

#[test]
fn every_suite_lists_the_tools_of_the_source_documents() {
    let root = Root::new();
    for (suite, names) in SUITES {
        let mut session = Session::gateway(suite, &root.path(), &[]);
        let tools = session.tools();
        let listed: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let suite_tools: Vec<&str> =
            listed.into_iter().filter(|name| !VALIDATION_TOOLS.contains(name)).collect();
        assert_eq!(suite_tools, names, "{suite}");
        assert_eq!(session.end(), Some(0));
    }
}

#[test]
fn documentation_lists_every_suite_and_tool() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp-servers.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (suite, names) in SUITES {
        for name in names.iter().chain([&suite]) {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}

#[test]
fn every_schema_is_strict_and_described_and_has_an_example() {
    let root = Root::new();
    for (suite, names) in SUITES {
        let tools = Session::gateway(suite, &root.path(), &[]).tools();
        for tool in tools.iter().filter(|tool| names.contains(&tool["name"].as_str().unwrap())) {
            let schema = &tool["inputSchema"];
            let name = &tool["name"];
            assert!(tool["description"].as_str().unwrap().len() > 20, "{name}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
            assert_eq!(schema["type"], "object", "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name}");
            let properties = schema["properties"].as_object().unwrap();
            for (field, field_schema) in properties {
                assert!(field_schema["description"].as_str().unwrap().len() > 5, "{name} {field}");
                assert!(field_schema["type"].is_string(), "{name} {field}");
            }
            for required in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{name} {required}");
            }
            assert_eq!(schema["examples"].as_array().unwrap().len(), 1, "{name}");
        }
    }
}

#[test]
fn every_tool_works_with_its_example() {
    let has_git = has_git();
    for (suite, names) in SUITES {
        let root = if has_git { Root::with_git() } else { Root::new() };
        let mut session = Session::gateway(suite, &root.path(), &ALLOWED);
        let tools = session.tools();
        for tool in tools.iter().filter(|tool| names.contains(&tool["name"].as_str().unwrap())) {
            let name = tool["name"].as_str().unwrap();
            if name.starts_with("git_") && !has_git {
                continue;
            }
            let example = tool["inputSchema"]["examples"][0].clone();
            let before = root.snapshot();
            let result = session.succeeds(name, example);
            check_effect(name, &root, &result);
            if tool["annotations"]["readOnlyHint"] == true {
                assert_eq!(root.snapshot(), before, "{name} has `readOnlyHint` but changes files");
            }
        }
    }
}

/// Asserts the effect of the example of a tool.
fn check_effect(tool: &str, root: &Root, result: &Value) {
    let message = text(result);
    let data = &result["structuredContent"];
    match tool {
        "read_file" | "filesystem_operation" => {
            assert!(message.contains("# A project"), "{message}");
        }
        "write_file" => assert_eq!(root.read("notes/ideas.txt"), "One idea per line.\n"),
        "run_tests" => assert_eq!(data["stdout"], "tested: parser\n"),
        "run_test_task" => assert_eq!(data["stdout"], "tested: tests\n"),
        "db_query" => assert_eq!(data["rows"][0]["name"], "Ada"),
        "db_bridge" => assert_eq!(data["rows"][0]["users"], 2),
        "git_commit" => {
            let log = root.git(&["log", "--format=%s", "--name-only", "-1"]);
            assert_eq!(log, "Explain how to start the server\n\nREADME.md\n");
        }
        "apply_surgical_edits" => assert!(root.read("README.md").contains("This is the ")),
        "search_codebase" => assert_eq!(data["matches"][0]["path"], "src/main.rs"),
        "run_shell_monitored" | "git_controller" => {
            assert!(message.contains("README.md"), "{message}");
        }
        "dependency_manager" => assert_eq!(data["sections"]["dependencies"]["serde"], "1.0"),
        "get_project_context" => {
            assert!(data["files"]["readme"].as_str().unwrap().starts_with("# A project"));
        }
        "manage_hitl_gate" => assert_eq!(data["status"], "open"),
        "get_task_trace" => assert_eq!(data["events"][0]["kind"], "gate_opened"),
        "inject_directive" => assert!(data["checkpoint"].as_str().unwrap().starts_with("cp-")),
        "rewind_to_checkpoint" => assert_eq!(data["dry_run"], true),
        "search_memory" => assert_eq!(data["total"], 0),
        "inspect_state" => assert_eq!(data["files"]["count"], 1),
        "capture_trace" => assert_eq!(data["task_id"], "task-7"),
        "get_logs" => assert!(message.contains("parser rewritten"), "{message}"),
        "schedule" => assert_eq!(data["validated_by"], "server"),
        "list_jobs" => assert_eq!(data["jobs"][0]["name"], "nightly-note"),
        "cancel_job" => assert_eq!(message, "cancelled `nightly-note`"),
        other => panic!("no effect is defined for {other}"),
    }
}

#[test]
fn missing_root_is_an_error() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["serve", "--suite", "files", "--root", "no/such/folder"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot use the root `no/such/folder`"), "{stderr}");
}

#[test]
fn orchestrator_stores_directives_and_gates_and_rewinds() {
    let root = Root::new();
    let mut session = Session::gateway("orchestrator", &root.path(), &[]);
    let json = serde_json::json!({ "directive": "Ask before you touch the database." });
    let kept = session.succeeds("inject_directive", json)["structuredContent"].clone();
    session.succeeds(
        "manage_hitl_gate",
        serde_json::json!({ "action": "open", "title": "Drop the table?" }),
    );
    let found =
        session.succeeds("search_memory", serde_json::json!({ "query": "touched DATABASE" }));
    let best = &found["structuredContent"]["entries"][0]["data"]["directive"];
    assert_eq!(*best, "Ask before you touch the database.");
    let back = serde_json::json!({ "checkpoint_id": kept["checkpoint"] });
    session.succeeds("rewind_to_checkpoint", back);
    drop(session);
    // A new server process finds the stored state.
    let mut session = Session::gateway("orchestrator", &root.path(), &[]);
    let gates = session.succeeds("manage_hitl_gate", serde_json::json!({ "action": "list" }));
    assert_eq!(gates["structuredContent"]["gates"], serde_json::json!([]));
    let context = session.succeeds("get_project_context", serde_json::json!({}));
    let directives = context["structuredContent"]["directives"].as_array().unwrap();
    assert_eq!(directives.len(), 1);
}

#[test]
fn files_are_written_listed_moved_and_deleted() {
    let root = Root::new();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let mut act = |arguments: Value| session.succeeds("filesystem_operation", arguments);
    act(serde_json::json!({ "action": "write", "path": "a/b.txt", "content": "one\n" }));
    act(serde_json::json!({ "action": "append", "path": "a/b.txt", "content": "two\n" }));
    assert_eq!(root.read("a/b.txt"), "one\ntwo\n");
    let stat = act(serde_json::json!({ "action": "stat", "path": "a/b.txt" }));
    assert_eq!(stat["structuredContent"]["bytes"], 8);
    act(serde_json::json!({ "action": "move", "path": "a/b.txt", "destination": "c.txt" }));
    let list = act(serde_json::json!({ "action": "list", "path": "a" }));
    assert_eq!(list["structuredContent"]["entries"], serde_json::json!([]));
    act(serde_json::json!({ "action": "delete", "path": "c.txt" }));
    assert!(!root.path().join("c.txt").exists());
    let over =
        serde_json::json!({ "action": "move", "path": "README.md", "destination": "Cargo.toml" });
    assert!(session.fails("filesystem_operation", over).contains("already exists"));
    let without = serde_json::json!({ "action": "write", "path": "x" });
    let message = session.fails("filesystem_operation", without);
    assert!(message.contains("`content` is required but missing"), "{message}");
    assert!(message.contains("## Valid Example"), "the rejection has no help: {message}");
}

#[test]
fn inapplicable_edits_change_nothing() {
    let root = Root::new();
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for (old, part) in [("nowhere", "does not occur in the file"), ("is", "occurs 2 times")] {
        let edits = serde_json::json!([
            { "old_text": "teh", "new_text": "the" }, { "old_text": old, "new_text": "" }
        ]);
        let arguments = serde_json::json!({ "path": "README.md", "edits": edits });
        let message = session.fails("apply_surgical_edits", arguments);
        assert!(message.contains(part) && message.contains("edit 1"), "{message}");
    }
    assert_eq!(root.snapshot(), before);
}
