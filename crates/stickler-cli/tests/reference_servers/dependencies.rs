//! Dependency tools: the real package managers add and remove packages from local sources.

use std::process::Command;

use serde_json::{Value, json};

use crate::root::{Root, has};
use crate::session::Session;

/// A crate with `vendor/` as its registry, which contains `tiny`.
fn crate_with_registry() -> Root {
    let root = Root::new();
    root.write("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    root.write("vendor/tiny/Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"1.2.3\"\n");
    root.write("vendor/tiny/src/lib.rs", "");
    root.write("vendor/tiny/.cargo-checksum.json", r#"{"files":{}}"#);
    root.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n",
    );
    root
}

/// A package and the file name of a packed second package beside it.
fn package_with_tarball() -> (Root, &'static str) {
    let root = Root::new();
    std::fs::remove_file(root.path().join("Cargo.toml")).unwrap();
    root.write("package.json", r#"{"name":"a","version":"1.0.0"}"#);
    root.write(".npmrc", "offline=true\naudit=false\nfund=false\nupdate-notifier=false\n");
    // An install script, which must not run.
    let script = r#"{"name":"tiny","version":"1.0.0","scripts":{"install":"touch ran"}}"#;
    root.write("tiny/package.json", script);
    let packed =
        Command::new("npm").args(["pack", "./tiny"]).current_dir(root.path()).output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    (root, "tiny-1.0.0.tgz")
}

fn act(session: &mut Session, arguments: Value) -> Value {
    session.succeeds("dependency_manager", arguments)["structuredContent"]["sections"].clone()
}

#[test]
fn cargo_adds_lists_and_removes() {
    if !has("cargo") {
        return;
    }
    let root = crate_with_registry();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    assert_eq!(act(&mut session, json!({ "action": "list" })), json!({}));
    let add = json!({ "action": "add", "package": "tiny", "version": "1.2" });
    let expected = json!({ "dependencies": { "tiny": "1.2" } });
    assert_eq!(act(&mut session, add), expected);
    assert!(root.read("Cargo.toml").contains("tiny = \"1.2\""), "{}", root.read("Cargo.toml"));
    assert_eq!(act(&mut session, json!({ "action": "list", "manager": "cargo" })), expected);
    let remove = json!({ "action": "remove", "package": "tiny" });
    assert_eq!(act(&mut session, remove.clone()), json!({}));
    // A dependency is found in every section.
    for section in ["dev-dependencies", "build-dependencies"] {
        let manifest = root.read("Cargo.toml");
        root.write("Cargo.toml", &format!("{manifest}\n[{section}]\ntiny = \"1\"\n"));
        assert_eq!(act(&mut session, remove.clone()), json!({}), "{section}");
        assert!(!root.read("Cargo.toml").contains("tiny"), "{}", root.read("Cargo.toml"));
    }
}

#[test]
fn npm_adds_lists_and_removes_and_runs_no_scripts() {
    if !has("npm") {
        return;
    }
    let (root, tarball) = package_with_tarball();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let expected = json!({ "dependencies": { "tiny": format!("file:{tarball}") } });
    let add = json!({ "action": "add", "manager": "npm", "package": tarball });
    assert_eq!(act(&mut session, add), expected);
    assert_eq!(act(&mut session, json!({ "action": "list" })), expected);
    let installed = root.path().join("node_modules/tiny");
    assert!(installed.join("package.json").exists());
    assert!(!installed.join("ran").exists(), "its script was run");
    let removed = act(&mut session, json!({ "action": "remove", "package": "tiny" }));
    assert!(removed["dependencies"].get("tiny").is_none(), "{removed}");
    assert!(!installed.exists());
}

#[test]
fn dependencies_are_not_changed_without_permission() {
    let root = Root::new();
    root.write("package.json", r#"{"name":"a","dependencies":{"b":"1"}}"#);
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &[]);
    for (action, manager, package) in [
        ("add", "cargo", "tiny"),
        ("remove", "cargo", "serde"),
        ("add", "npm", "tiny"),
        ("remove", "npm", "b"),
    ] {
        let arguments = json!({ "action": action, "manager": manager, "package": package });
        let message = session.fails("dependency_manager", arguments);
        assert!(
            message.contains("--allow-shell") && message.contains("nothing was run"),
            "{message}"
        );
    }
    // Listing needs no permission.
    let list = act(&mut session, json!({ "action": "list", "manager": "npm" }));
    assert_eq!(list, json!({ "dependencies": { "b": "1" } }));
    assert_eq!(root.snapshot(), before);
}

#[test]
fn failed_dependency_changes_are_explained_and_change_nothing() {
    let root = crate_with_registry();
    root.write("package.json", r#"{"name":"a","dependencies":{"left-pad":"1"}}"#);
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let mut fails = |arguments: Value| session.fails("dependency_manager", arguments);
    let message = fails(json!({ "action": "remove", "manager": "npm", "package": "leftpad" }));
    let expected = "nothing was changed: `leftpad` is not a dependency; dependencies: `left-pad`; \
                    did you mean `left-pad`?";
    assert_eq!(message, expected);
    let message = fails(json!({ "action": "remove", "manager": "cargo", "package": "tiny" }));
    assert_eq!(message, "nothing was changed: `tiny` is not a dependency; dependencies: none");
    let message = fails(json!({ "action": "add", "manager": "cargo" }));
    assert!(message.contains("`package` is required but missing; add it as a string"), "{message}");
    if has("cargo") {
        let message = fails(json!({ "action": "add", "manager": "cargo", "package": "tiyn" }));
        assert!(message.starts_with("cargo: exit code 101\n"), "{message}");
        assert!(message.contains("the crate `tiyn` could not be found"), "{message}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn missing_package_manager_is_named_in_the_error() {
    let root = crate_with_registry();
    let before = root.snapshot();
    let nowhere = root.beside("other").display().to_string();
    let mut session = Session::with_path("sandbox", &root.path(), &["--allow-shell"], &nowhere);
    let message =
        session.fails("dependency_manager", json!({ "action": "add", "package": "tiny" }));
    assert!(message.starts_with("`cargo` cannot be started: "), "{message}");
    assert!(message.ends_with("; is it installed?"), "{message}");
    assert_eq!(root.snapshot(), before);
}
