//! Examples for tests to start. `cargo test --test …` builds none, so they are built here.

use std::path::Path;
use std::process::Command;

/// Builds examples of a package, as `cargo build` names them, beside the programs in that folder.
pub(crate) fn build_examples(package: &str, which: &[&str], folder: &Path) {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package]).args(which);
    // What cargo tells a test about itself would make build scripts run again, and with them
    // everything that depends on them, in this build and in the next one outside.
    let own = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "OUT_DIR"];
    for (name, _) in std::env::vars() {
        if own.iter().any(|one| name.starts_with(one)) {
            build.env_remove(name);
        }
    }
    if folder.ends_with("release") {
        build.arg("--release");
    }
    build.arg("--target-dir").arg(folder.parent().unwrap());
    assert!(build.status().unwrap().success());
}
