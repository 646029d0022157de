//! Measures the line coverage of the core with `cargo tarpaulin`.

use std::process::Command;

use crate::interop::call;
use crate::{Outcome, paths};

/// The crates of the core.
const CORE: [&str; 2] = ["stickler", "stickler-protocol"];

/// The minimum line coverage of the core by its tests.
const MIN_COVERAGE_PERCENT: &str = "90";

/// Excluded test programs: `examples` starts examples, which are not built here; `equivalence` compares
/// with the official schemas, takes long and adds no coverage.
const EXCLUDED_TESTS: [&str; 2] = ["examples", "equivalence"];

pub(crate) fn run() -> Outcome {
    let mut version = Command::new("cargo");
    version.args(["tarpaulin", "--version"]);
    if !version.output().is_ok_and(|output| output.status.success()) {
        return Err("run `cargo install --locked cargo-tarpaulin` first".to_owned());
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

/// Returns the names of the core's test programs.
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
            (is_program && !EXCLUDED_TESTS.contains(&name)).then(|| name.to_owned())
        }));
    }
    names.sort();
    names.dedup();
    Ok(names)
}
