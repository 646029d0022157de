//! Git tools: they use only the repository of the root, and run no hooks.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::root::{Root, has_git};
use crate::session::{Session, text};

#[test]
fn git_controller_covers_the_workflow_from_branch_to_commit() {
    if !has_git() {
        return;
    }
    let root = Root::with_git();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    let mut git = |arguments| text(&session.succeeds("git_controller", arguments));
    assert!(git(json!({ "action": "diff", "paths": ["README.md"] })).contains("+This is teh new"));
    git(json!({ "action": "create_branch", "branch": "topic" }));
    git(json!({ "action": "switch", "branch": "topic" }));
    assert!(git(json!({ "action": "add" })).contains("## topic"));
    git(json!({ "action": "commit", "message": "--amend; `touch ran`" }));
    assert!(git(json!({ "action": "log" })).contains("--amend; `touch ran`"));
    assert_eq!(root.git(&["rev-list", "--count", "HEAD"]), "2\n");
    assert_eq!(root.git(&["status", "--short"]), "");
    let message =
        session.fails("git_controller", json!({ "action": "commit", "message": "again" }));
    assert!(message.contains("nothing to commit"), "{message}");
    let message = session.fails("git_controller", json!({ "action": "commit" }));
    assert!(message.contains("`message` is required but missing"), "{message}");
}

#[test]
fn repository_around_the_root_is_not_used() {
    if !has_git() {
        return;
    }
    let outer = Root::with_git();
    let inner = outer.path().join("src");
    let head = outer.git(&["rev-parse", "HEAD"]);
    let mut session = Session::gateway("files", &inner, &[]);
    let message = session.fails("git_commit", json!({ "message": "x" }));
    assert!(message.contains("not a git repository"), "{message}");
    assert_eq!(outer.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn git_hooks_are_not_run() {
    if !has_git() {
        return;
    }
    let root = Root::with_git();
    for hook in ["pre-commit", "post-commit", "commit-msg"] {
        root.write(&format!(".git/hooks/{hook}"), "#!/bin/sh\ntouch hook-ran\n");
        let path = root.path().join(".git/hooks").join(hook);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut session = Session::gateway("files", &root.path(), &[]);
    session.succeeds("git_commit", json!({ "message": "x" }));
    assert!(!root.path().join("hook-ran").exists());
}
