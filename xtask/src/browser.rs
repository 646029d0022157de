//! Tests the page of `stickler ui` in a browser.
//!
//! Uses Debian's `chromium`, or the program in `CHROMIUM`, driven by `playwright-core`. The scripts are in
//! `xtask/fixtures/browser`; screenshots are written to `target/browser/screenshots`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::interop::call;
use crate::paths;

const PACKAGE: &str = "playwright-core@1.65.1";

/// Options of the task.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Program to test [default: a debug build]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// Measure time, memory and delay instead, without a browser [default program: a release build]
    #[arg(long)]
    measure: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    if options.measure {
        return measure(options);
    }
    let browser = browser()?;
    let target = paths::root().join("target");
    let folder = target.join("browser");
    prepare(&folder)?;
    let program = if let Some(program) = &options.program {
        program.clone()
    } else {
        call(Command::new("cargo").args(["build", "--package", "stickler-cli"]))?;
        target.join("debug/stickler")
    };
    let screenshots = folder.join("screenshots");
    let mut tests = Command::new("node");
    tests.arg(folder.join("tests.mjs")).arg(program).arg(browser).arg(&screenshots);
    call(&mut tests)
}

fn measure(options: &Options) -> Outcome {
    let program = if let Some(program) = &options.program {
        program.clone()
    } else {
        call(Command::new("cargo").args(["build", "--release", "--package", "stickler-cli"]))?;
        paths::root().join("target/release/stickler")
    };
    let script = paths::root().join("xtask/fixtures/browser/measure.mjs");
    call(Command::new("node").arg(script).arg(format!("{} ui", program.display())))
}

/// Returns the browser to use.
fn browser() -> Result<PathBuf, String> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let candidates = named.into_iter().chain(["chromium", "google-chrome"].map(PathBuf::from));
    for candidate in candidates {
        let mut which = Command::new("which");
        let Ok(found) = which.arg(&candidate).stderr(Stdio::null()).output() else { continue };
        let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if found.status.success() && !path.is_empty() {
            return Ok(PathBuf::from(path));
        }
    }
    Err("the browser tests need Chromium: install the package `chromium`, or set `CHROMIUM`"
        .to_owned())
}

/// Installs the package once and copies the scripts next to it.
fn prepare(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let note = folder.join("installed.txt");
    if !std::fs::read_to_string(&note).is_ok_and(|installed| installed == PACKAGE) {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"])
            .arg(folder)
            .arg(PACKAGE);
        call(&mut npm)?;
        std::fs::write(&note, PACKAGE).map_err(|error| format!("{}: {error}", note.display()))?;
    }
    let scripts = paths::root().join("xtask/fixtures/browser");
    let entries =
        std::fs::read_dir(&scripts).map_err(|error| format!("{}: {error}", scripts.display()))?;
    for entry in entries.flatten() {
        copy(&entry.path(), &folder.join(entry.file_name()))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    std::fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}
