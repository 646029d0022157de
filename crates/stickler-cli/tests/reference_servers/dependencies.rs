//! Dependencies: added and removed by the real managers, from packages that lie in the root.

use std::process::Command;

use serde_json::{Value, json};

use crate::root::{Root, has};
use crate::session::Session;

/// A crate that has `vendor/` for its registry, and `tiny` in it.
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

/// A package with another one packed beside it; the name of that file.
fn package_with_tarball() -> (Root, &'static str) {
    let root = Root::new();
    std::fs::remove_file(root.path().join("Cargo.toml")).unwrap();
    root.write("package.json", r#"{"name":"a","version":"1.0.0"}"#);
    root.write(".npmrc", "offline=true\naudit=false\nfund=false\nupdate-notifier=false\n");
    // What a stranger's package would run.
    let script = r#"{"name":"tiny","version":"1.0.0","scripts":{"install":"touch ran"}}"#;
    root.write("tiny/package.json", script);
    let packed =
        Command::new("npm").args(["pack", "./tiny"]).current_dir(root.path()).output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    (root, "tiny-1.0.0.tgz")
}

fn act(session: &mut Session, arguments: Value) -> Value {
    session.works("dependency_manager", arguments)["structuredContent"]["sections"].clone()
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
    // A dependency is found in whatever section it stands.
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
fn without_leave_no_dependency_is_changed() {
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
        let said = session.fails("dependency_manager", arguments);
        assert!(said.contains("--allow-shell") && said.contains("nothing was run"), "{said}");
    }
    // Looking needs no leave.
    let list = act(&mut session, json!({ "action": "list", "manager": "npm" }));
    assert_eq!(list, json!({ "dependencies": { "b": "1" } }));
    assert_eq!(root.snapshot(), before);
}

#[test]
fn what_cannot_be_done_is_told_clearly_and_changes_nothing() {
    let root = crate_with_registry();
    root.write("package.json", r#"{"name":"a","dependencies":{"left-pad":"1"}}"#);
    let before = root.snapshot();
    let mut session = Session::gateway("sandbox", &root.path(), &["--allow-shell"]);
    let mut fails = |arguments: Value| session.fails("dependency_manager", arguments);
    let said = fails(json!({ "action": "remove", "manager": "npm", "package": "leftpad" }));
    let expected = "nothing was changed: `leftpad` is no dependency here, there are `left-pad`; \
                    did you mean `left-pad`?";
    assert_eq!(said, expected);
    let said = fails(json!({ "action": "remove", "manager": "cargo", "package": "tiny" }));
    assert_eq!(said, "nothing was changed: `tiny` is no dependency here, there are none");
    let said = fails(json!({ "action": "add", "manager": "cargo" }));
    assert_eq!(said, "`package` is missing: the action `add` needs it");
    if has("cargo") {
        let said = fails(json!({ "action": "add", "manager": "cargo", "package": "tiyn" }));
        assert!(said.starts_with("cargo: exit code 101\n"), "{said}");
        assert!(said.contains("the crate `tiyn` could not be found"), "{said}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn a_manager_that_is_not_there_is_told() {
    let root = crate_with_registry();
    let before = root.snapshot();
    let nowhere = root.beside("other").display().to_string();
    let mut session = Session::with_path("sandbox", &root.path(), &["--allow-shell"], &nowhere);
    let said = session.fails("dependency_manager", json!({ "action": "add", "package": "tiny" }));
    assert!(said.starts_with("`cargo` cannot be started: "), "{said}");
    assert!(said.ends_with("; is it installed?"), "{said}");
    assert_eq!(root.snapshot(), before);
}
