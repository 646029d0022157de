//! Rewinding to a checkpoint restores files, and can be undone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::root::{Root, has_git};
use crate::session::Session;

/// Contents of the files, without folders and git's own files: empty folders are not captured.
fn files(root: &Root) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_file = |path: &PathBuf, content: &Vec<u8>| {
        content != b"a folder" && !path.components().any(|part| part.as_os_str() == ".git")
    };
    root.snapshot().into_iter().filter(|(path, content)| is_file(path, content)).collect()
}

fn rewind(session: &mut Session, checkpoint: &Value, dry_run: bool) -> Value {
    let call = json!({ "checkpoint_id": checkpoint, "dry_run": dry_run });
    session.succeeds("rewind_to_checkpoint", call)["structuredContent"].clone()
}

#[test]
fn rewind_restores_files_and_can_be_undone() {
    if !has_git() {
        return;
    }
    let root = Root::with_git();
    root.write(".gitignore", "ignored.txt\n");
    root.write(".gitattributes", "*.txt text eol=crlf\n");
    root.write("ignored.txt", "kept\n");
    let head = root.git(&["rev-parse", "HEAD"]);
    let before = files(&root);
    let mut orchestrator = Session::gateway("orchestrator", &root.path(), &[]);
    let directive = json!({ "directive": "Refactor the parser." });
    let start = orchestrator.succeeds("inject_directive", directive);
    let start = start["structuredContent"]["checkpoint"].clone();
    let mut sandbox = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let mut act = |arguments: Value| sandbox.succeeds("filesystem_operation", arguments);
    act(json!({ "action": "write", "path": "README.md", "content": "ruined\n" }));
    act(json!({ "action": "delete", "path": "src/main.rs" }));
    act(json!({ "action": "write", "path": "new/file.txt", "content": "one\ntwo\n" }));
    sandbox.succeeds("run_shell_monitored", json!({ "command": "chmod +x run-tests.sh; echo x >> Cargo.toml; echo changed > ignored.txt" }));
    // A change that no tool has made.
    root.write("by-hand.txt", "edited by a person\n");
    let ruined = files(&root);

    let planned = rewind(&mut orchestrator, &start, true);
    assert!(files(&root) == ruined, "a dry run changes nothing");
    let listed = planned["files"].as_array().unwrap();
    assert!(listed.contains(&json!({ "path": "README.md", "change": "changed" })), "{planned}");
    assert!(listed.contains(&json!({ "path": "src/main.rs", "change": "created" })), "{planned}");
    assert!(listed.contains(&json!({ "path": "new/file.txt", "change": "deleted" })), "{planned}");

    let done = rewind(&mut orchestrator, &start, false);
    assert_eq!((&done["files"], &done["undone"]), (&planned["files"], &json!(4)), "{done}");
    let mut expected = before.clone();
    let ignored = root.path().join("ignored.txt");
    expected.insert(ignored.clone(), b"changed\n".to_vec());
    assert!(files(&root) == expected, "all files but the ignored one");
    assert_eq!(root.git(&["rev-parse", "HEAD"]), head, "the project's repository is not touched");

    let undone = rewind(&mut orchestrator, &done["undo_with"], false);
    assert!(files(&root) == ruined, "the rewind is undone, with the edit by hand");
    // The undo can be undone as well.
    rewind(&mut orchestrator, &undone["undo_with"], false);
    assert!(files(&root) == expected, "the undo is undone");
}

#[test]
fn first_checkpoint_is_the_state_before_the_first_change() {
    if !has_git() {
        return;
    }
    let root = Root::new();
    let before = files(&root);
    let mut session = Session::gateway("files", &root.path(), &[]);
    for number in 0..3 {
        let content = format!("{number}\n");
        session.succeeds("write_file", json!({ "path": "README.md", "content": content }));
    }
    let mut orchestrator = Session::gateway("orchestrator", &root.path(), &[]);
    rewind(&mut orchestrator, &json!("cp-2"), false);
    assert_eq!(root.read("README.md"), "1\n");
    rewind(&mut orchestrator, &json!("cp-0"), false);
    assert!(files(&root) == before, "`cp-0` is the beginning");
    let message = orchestrator.fails("rewind_to_checkpoint", json!({ "checkpoint_id": "cp-99" }));
    assert!(message.contains("the checkpoint `cp-99` does not exist"), "{message}");
}

#[test]
fn concurrent_calls_are_all_captured() {
    if !has_git() {
        return;
    }
    let root = Root::new();
    let path = root.path();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let path = &path;
            scope.spawn(move || {
                let mut session = Session::direct("files", path, &[]);
                for number in 0..4 {
                    let file = format!("{writer}-{number}.txt");
                    session.succeeds("write_file", json!({ "path": file, "content": "x" }));
                }
            });
        }
    });
    let written = files(&root);
    let mut orchestrator = Session::direct("orchestrator", &path, &[]);
    let done = rewind(&mut orchestrator, &json!("cp-0"), false);
    assert_eq!((&done["file_count"], &done["undone"]), (&json!(12), &json!(12)), "{done}");
    rewind(&mut orchestrator, &done["undo_with"], false);
    assert!(files(&root) == written, "the rewind is undone");
}
