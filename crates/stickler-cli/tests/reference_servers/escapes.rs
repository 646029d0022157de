//! Nothing leaves the root.

use serde_json::{Value, json};

use crate::examples::ALLOWED;
use crate::root::Root;
use crate::session::Session;

/// Paths that lead out: up, from the top, through a link, through a link's folder to something new.
fn ways_out(root: &Root) -> Vec<String> {
    std::os::unix::fs::symlink(root.beside("other"), root.path().join("link")).unwrap();
    std::os::unix::fs::symlink("../other/new.txt", root.path().join("dangling")).unwrap();
    let mut ways: Vec<String> = [
        "../other/secret.txt",
        "src/../../other/secret.txt",
        "link/secret.txt",
        "link/new/x.txt",
        "dangling",
    ]
    .map(str::to_owned)
    .to_vec();
    ways.push(root.beside("other/secret.txt").to_str().unwrap().to_owned());
    ways
}

/// Calls of each suite that take a path.
fn calls(path: &str) -> Vec<(&'static str, &'static str, Value)> {
    let sandbox = |arguments: Value| ("sandbox", "filesystem_operation", arguments);
    let edits = json!([{ "old_text": "secret", "new_text": "changed" }]);
    vec![
        ("files", "read_file", json!({ "path": path })),
        ("files", "write_file", json!({ "path": path, "content": "changed" })),
        ("files", "run_tests", json!({ "path": path })),
        ("files", "db_query", json!({ "sql": "select 1", "database": path })),
        sandbox(json!({ "action": "read", "path": path })),
        sandbox(json!({ "action": "write", "path": path, "content": "changed" })),
        sandbox(json!({ "action": "append", "path": path, "content": "changed" })),
        sandbox(json!({ "action": "list", "path": path })),
        sandbox(json!({ "action": "stat", "path": path })),
        sandbox(json!({ "action": "create_folder", "path": path })),
        sandbox(json!({ "action": "delete", "path": path })),
        sandbox(json!({ "action": "move", "path": path, "destination": "stolen.txt" })),
        sandbox(json!({ "action": "move", "path": "README.md", "destination": path })),
        ("sandbox", "apply_surgical_edits", json!({ "path": path, "edits": edits })),
        ("sandbox", "search_codebase", json!({ "pattern": "secret", "path": path })),
        ("sandbox", "run_shell_monitored", json!({ "command": "ls", "working_directory": path })),
        ("sandbox", "git_controller", json!({ "action": "add", "paths": [path] })),
        ("project", "inspect_state", json!({ "path": path })),
        ("project", "run_test_task", json!({ "test_path": path })),
        ("project", "db_bridge", json!({ "query": "select 1", "mode": "write", "database": path })),
    ]
}

#[test]
fn no_tool_follows_a_path_out_of_the_root() {
    let root = Root::new();
    let ways = ways_out(&root);
    let before = root.snapshot();
    for suite in ["files", "sandbox", "project"] {
        let mut session = Session::gateway(suite, &root.path(), &ALLOWED);
        for way in &ways {
            for (_, tool, arguments) in calls(way).into_iter().filter(|call| call.0 == suite) {
                // These are about the link itself, which lies within the root.
                let is_about_links =
                    arguments["action"] == "delete" || arguments["action"] == "move";
                if is_about_links && arguments["path"] == "dangling" {
                    continue;
                }
                let said = session.fails(tool, arguments.clone());
                let names_it = said.contains("outside the root") || said.contains("absolute path");
                assert!(names_it, "{tool} {arguments}: {said}");
                assert!(!said.contains("secret\n"), "{said}");
            }
        }
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn links_are_deleted_and_moved_and_what_they_lead_to_stays() {
    let root = Root::new();
    ways_out(&root);
    root.write("kept.txt", "kept");
    std::os::unix::fs::symlink("kept.txt", root.path().join("inner")).unwrap();
    std::os::unix::fs::symlink("kept.txt", root.path().join("other_name")).unwrap();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for path in ["link", "dangling", "inner"] {
        session.works("filesystem_operation", json!({ "action": "delete", "path": path }));
        assert!(root.path().join(path).symlink_metadata().is_err(), "{path}");
    }
    let arguments = json!({ "action": "move", "path": "other_name", "destination": "moved" });
    session.works("filesystem_operation", arguments);
    assert!(root.path().join("moved").symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(root.path().join("kept.txt")).unwrap(), "kept");
    assert!(root.beside("other/secret.txt").exists());
}

#[test]
fn nobody_waits_for_a_pipe() {
    let root = Root::new();
    let pipe = root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for action in ["read", "write", "append"] {
        let arguments = json!({ "action": action, "path": "pipe", "content": "x" });
        let said = session.fails("filesystem_operation", arguments);
        assert!(said.contains("`pipe` is no"), "{said}");
    }
    session.works("search_codebase", json!({ "pattern": "secret" }));
}

#[test]
fn search_does_not_follow_links() {
    let root = Root::new();
    ways_out(&root);
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let found = session.works("search_codebase", json!({ "pattern": "secret" }));
    assert_eq!(found["structuredContent"]["matches"], json!([]));
}

#[test]
fn state_is_not_kept_through_a_link() {
    let root = Root::new();
    std::os::unix::fs::symlink(root.beside("other"), root.path().join(".stickler")).unwrap();
    let before = root.snapshot();
    let mut session = Session::gateway("orchestrator", &root.path(), &[]);
    session.fails("inject_directive", json!({ "directive": "x" }));
    assert_eq!(root.snapshot(), before);
}

#[test]
fn what_git_and_the_server_keep_is_out_of_reach() {
    let root = Root::new();
    root.write(".git/config", "[core]\n");
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for path in [".git/hooks/pre-commit", ".GIT/config", ".stickler/state.db"] {
        let arguments = json!({ "action": "write", "path": path, "content": "x" });
        let said = session.fails("filesystem_operation", arguments);
        assert!(said.contains("keep out of"), "{said}");
    }
    assert_eq!(root.snapshot(), before);
}
