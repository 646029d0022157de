//! Line coverage of the core, by `cargo tarpaulin`.

use std::process::Command;

use crate::Outcome;
use crate::interop::call;

/// What the core's tests must reach.
const LEAST: &str = "90";

pub(crate) fn run() -> Outcome {
    let mut there = Command::new("cargo");
    if !there.args(["tarpaulin", "--version"]).output().is_ok_and(|output| output.status.success())
    {
        return Err("`cargo install --locked cargo-tarpaulin` first".to_owned());
    }
    call(Command::new("cargo").args([
        "tarpaulin",
        "--package",
        "stickler",
        "--engine",
        "llvm",
        "--include-files",
        "crates/stickler/src/*",
        "--timeout",
        "300",
        "--target-dir",
        "target/coverage",
        "--fail-under",
        LEAST,
    ]))
}
