//! Builds the measured program.

use std::path::PathBuf;
use std::process::Command;

use crate::interop::call;
use crate::paths;

/// Builds the release binary, with OpenTelemetry, and returns its path.
pub(super) fn build() -> Result<PathBuf, String> {
    call(Command::new("cargo").args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "stickler-cli",
        "--features",
        "otel",
    ]))?;
    Ok(paths::root().join("target/release/stickler"))
}
