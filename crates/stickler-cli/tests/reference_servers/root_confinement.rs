//! Confinement to the root: no tool reads or changes anything outside.

use serde_json::{Value, json};

use crate::examples::ALLOWED;
use crate::root::Root;
use crate::session::Session;

/// Paths that leave the root: parent components, absolute paths, symlinks, and new files behind symlinks.
fn escaping_paths(root: &Root) -> Vec<String> {
    std::os::unix::fs::symlink(root.beside("other"), root.path().join("link")).unwrap();
    std::os::unix::fs::symlink("../other/new.txt", root.path().join("dangling")).unwrap();
    let mut paths: Vec<String> = [
        "../other/secret.txt",
        "src/../../other/secret.txt",
        "link/secret.txt",
        "link/new/x.txt",
        "dangling",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.push(root.beside("other/secret.txt").to_str().unwrap().to_owned());
    paths
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
fn paths_outside_the_root_are_rejected() {
    let root = Root::new();
    let paths = escaping_paths(&root);
    let before = root.snapshot();
    for suite in ["files", "sandbox", "project"] {
        let mut session = Session::gateway(suite, &root.path(), &ALLOWED);
        for path in &paths {
            for (_, tool, arguments) in calls(path).into_iter().filter(|call| call.0 == suite) {
                // These actions affect the symlink itself, which is inside the root.
                let affects_the_link =
                    arguments["action"] == "delete" || arguments["action"] == "move";
                if affects_the_link && arguments["path"] == "dangling" {
                    continue;
                }
                let message = session.fails(tool, arguments.clone());
                let is_explained =
                    message.contains("outside the root") || message.contains("absolute path");
                assert!(is_explained, "{tool} {arguments}: {message}");
                assert!(!message.contains("secret\n"), "{message}");
            }
        }
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn symlinks_are_deleted_and_moved_without_touching_their_targets() {
    let root = Root::new();
    escaping_paths(&root);
    root.write("kept.txt", "kept");
    std::os::unix::fs::symlink("kept.txt", root.path().join("inner")).unwrap();
    std::os::unix::fs::symlink("kept.txt", root.path().join("other_name")).unwrap();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for path in ["link", "dangling", "inner"] {
        session.succeeds("filesystem_operation", json!({ "action": "delete", "path": path }));
        assert!(root.path().join(path).symlink_metadata().is_err(), "{path}");
    }
    let arguments = json!({ "action": "move", "path": "other_name", "destination": "moved" });
    session.succeeds("filesystem_operation", arguments);
    assert!(root.path().join("moved").symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(root.path().join("kept.txt")).unwrap(), "kept");
    assert!(root.beside("other/secret.txt").exists());
}

#[test]
fn named_pipes_are_rejected_without_blocking() {
    let root = Root::new();
    let pipe = root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for action in ["read", "write", "append"] {
        let arguments = json!({ "action": action, "path": "pipe", "content": "x" });
        let message = session.fails("filesystem_operation", arguments);
        assert!(message.contains("`pipe` is not a regular file"), "{message}");
    }
    session.succeeds("search_codebase", json!({ "pattern": "secret" }));
}

#[test]
fn search_does_not_follow_symlinks() {
    let root = Root::new();
    escaping_paths(&root);
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let found = session.succeeds("search_codebase", json!({ "pattern": "secret" }));
    assert_eq!(found["structuredContent"]["matches"], json!([]));
}

#[test]
fn state_directory_is_not_followed_through_a_symlink() {
    let root = Root::new();
    std::os::unix::fs::symlink(root.beside("other"), root.path().join(".stickler")).unwrap();
    let before = root.snapshot();
    let mut session = Session::gateway("orchestrator", &root.path(), &[]);
    session.fails("inject_directive", json!({ "directive": "x" }));
    assert_eq!(root.snapshot(), before);
}

#[test]
fn git_and_state_directories_are_protected_from_writes() {
    let root = Root::new();
    root.write(".git/config", "[core]\n");
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for path in [".git/hooks/pre-commit", ".GIT/config", ".stickler/state.db"] {
        let arguments = json!({ "action": "write", "path": path, "content": "x" });
        let message = session.fails("filesystem_operation", arguments);
        assert!(message.contains("must not access"), "{message}");
    }
    assert_eq!(root.snapshot(), before);
}
