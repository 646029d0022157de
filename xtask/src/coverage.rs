//! Line coverage of the core, by `cargo tarpaulin`.

use std::process::Command;

use crate::interop::call;
use crate::{Outcome, paths};

/// The crates of the core.
const CORE: [&str; 2] = ["stickler", "stickler-protocol"];

/// What the core's tests must reach.
const MIN_COVERAGE_PERCENT: &str = "90";

/// Tests that are not run for it: the first ones start examples, which are not built here; the
/// others compare with the official schemas at length, and the figure does not need them.
const LEFT_OUT: [&str; 2] = ["examples", "equivalence"];

pub(crate) fn run() -> Outcome {
    let mut there = Command::new("cargo");
    if !there.args(["tarpaulin", "--version"]).output().is_ok_and(|output| output.status.success())
    {
        return Err("`cargo install --locked cargo-tarpaulin` first".to_owned());
    }
    let mut tarpaulin = Command::new("cargo");
    tarpaulin.args(["tarpaulin", "--locked", "--engine", "llvm", "--timeout", "300"]);
    for package in CORE {
        let sources = format!("crates/{package}/src/*");
        tarpaulin.args(["--package", package, "--include-files", &sources]);
    }
    // A separate target directory allows incremental builds. Dead code and debug information are
    // not needed and slow the build down.
    tarpaulin.args(["--target-dir", "target/coverage", "--skip-clean", "--no-dead-code"]);
    tarpaulin.args(["--rustflags=-Cdebuginfo=0", "--fail-under", MIN_COVERAGE_PERCENT, "--lib"]);
    for test in tests()? {
        tarpaulin.args(["--test", &test]);
    }
    call(&mut tarpaulin)
}

/// The test programs of the core.
fn tests() -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for package in CORE {
        let folder = paths::root().join("crates").join(package).join("tests");
        let entries = std::fs::read_dir(&folder);
        let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
        names.extend(entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_program = path.extension().is_some_and(|extension| extension == "rs")
                || path.join("main.rs").exists();
            let name = path.file_stem()?.to_str()?;
            (is_program && !LEFT_OUT.contains(&name)).then(|| name.to_owned())
        }));
    }
    names.sort();
    names.dedup();
    Ok(names)
}
