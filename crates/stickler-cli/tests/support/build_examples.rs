//! Builds the example programs that tests start: `cargo test --test …` does not build them.

use std::path::Path;
use std::process::Command;

/// Builds examples of a package, selected by `cargo build` options, into the target directory of `folder`.
pub(crate) fn build_examples(package: &str, options: &[&str], folder: &Path) {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package]).args(options);
    // The variables that cargo sets for a test would make build scripts run again, and rebuild
    // everything that depends on them, in this build and in the next one outside.
    let test_variables = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "OUT_DIR"];
    for (name, _) in std::env::vars() {
        if test_variables.iter().any(|one| name.starts_with(one)) {
            build.env_remove(name);
        }
    }
    if folder.ends_with("release") {
        build.arg("--release");
    }
    build.arg("--target-dir").arg(folder.parent().unwrap());
    assert!(build.status().unwrap().success());
}
