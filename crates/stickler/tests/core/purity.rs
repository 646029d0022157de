//! The core performs no I/O: no network, runtime or logging crate in its dependency tree, and no
//! resolver feature in its schema engine.

use std::process::Command;

/// The crates that perform no I/O.
const PURE: [&str; 2] = ["stickler", "stickler-protocol"];

fn cargo_tree(package: &str, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", package, "--edges", "normal", "--prefix", "none"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn dependency_tree_contains_no_io_crates() {
    for package in PURE {
        let tree = cargo_tree(package, &[]);
        assert!(tree.contains("jsonschema v"), "{tree}");
        for name in [
            "tokio",
            "async-std",
            "mio",
            "socket2",
            "hyper",
            "reqwest",
            "ureq",
            "rustls",
            "native-tls",
            "log",
            "tracing",
            "chrono",
            "time",
            "rayon",
            "libloading",
        ] {
            let found = tree.lines().find(|line| line.split(' ').next() == Some(name));
            assert_eq!(found, None, "{package} must not depend on {name}");
        }
    }
}

#[test]
fn schema_engine_has_no_resolver_features() {
    for package in PURE {
        let features = cargo_tree(package, &["--format", "{p} {f}"]);
        let engine = features.lines().find(|line| line.starts_with("jsonschema v")).unwrap();
        assert!(!engine.contains("resolve"), "{package}: {engine}");
    }
}

#[test]
fn core_does_not_depend_on_the_protocol_crate() {
    let tree = cargo_tree("stickler", &[]);
    assert!(!tree.lines().any(|line| line.starts_with("stickler-")), "{tree}");
}
