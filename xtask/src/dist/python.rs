//! The wheel: native module, Python package and, through maturin's data folder, the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Build, copy, empty};
use crate::interop::call;
use crate::{Outcome, paths};

const MATURIN: &str = "maturin==1.16.0";

/// Builds the wheel.
pub(super) fn wheel(build: &Build, program: Option<&Path>) -> Outcome {
    let package = paths::root().join("bindings/python");
    // Not part of the repository; maturin installs its contents as scripts.
    let scripts = package.join("stickler_mcp.data/scripts");
    empty(&scripts)?;
    if let Some(program) = program {
        copy(program, &scripts.join(build.platform.program()))?;
    }
    let mut maturin = Command::new(maturin()?);
    maturin.current_dir(&package);
    maturin.args(["build", "--locked", "--profile", if build.fast { "fast" } else { "release" }]);
    maturin.arg("--out").arg(&build.out);
    if build.platform.is_cross {
        maturin.args(["--target", &build.platform.triple]);
    }
    call(&mut maturin)
}

/// Returns the path of maturin; installs it in an environment of its own unless it is on the path.
fn maturin() -> Result<PathBuf, String> {
    if Command::new("maturin").arg("--version").output().is_ok_and(|output| output.status.success())
    {
        return Ok(PathBuf::from("maturin"));
    }
    let folder = paths::root().join("target/maturin");
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let maturin = programs.join("maturin");
    if !maturin.exists() {
        let python = if cfg!(windows) { "python" } else { "python3" };
        call(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
        let install = ["install", "--quiet", "--disable-pip-version-check", MATURIN];
        call(Command::new(programs.join("pip")).args(install))?;
    }
    Ok(maturin)
}
