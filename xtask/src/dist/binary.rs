//! The program, its completions and man page, and their archive.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Build, copy, empty, unreadable, version};
use crate::interop::call;
use crate::{Outcome, paths};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Features of a release besides the default ones, as far as this version has them.
const RELEASE_FEATURES: [&str; 2] = ["otel", "extproc"];

/// Builds the program and returns its path.
pub(super) fn build(build: &Build) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(paths::root());
    cargo.args(["build", "--release", "--locked", "--package", "stickler-cli"]);
    let features = release_features()?;
    if !features.is_empty() {
        cargo.args(["--features", &features.join(",")]);
    }
    if build.fast {
        cargo.env("CARGO_PROFILE_RELEASE_LTO", "off");
        cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    }
    let mut folder = paths::root().join("target");
    if build.platform.is_cross {
        cargo.args(["--target", &build.platform.triple]);
        folder.push(&build.platform.triple);
    }
    call(&mut cargo)?;
    Ok(folder.join("release").join(build.platform.program()))
}

/// Writes `stickler-VERSION-TRIPLE.tar.gz` with the program, completions, man page, README and licenses.
pub(super) fn archive(build: &Build, program: &Path) -> Outcome {
    let name = format!("stickler-{}-{}", version(), build.platform.triple);
    let folder = build.work.join(&name);
    empty(&folder)?;
    copy(program, &folder.join(build.platform.program()))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&paths::root().join(file), &folder.join(file))?;
    }
    // A program for another platform cannot be run to print its own reference.
    if !build.platform.is_cross {
        for shell in SHELLS {
            save(
                program,
                &["completions", shell],
                &folder.join("completions").join(file_name(shell)),
            )?;
        }
        let man = folder.join("man/stickler.1");
        if save(program, &["man"], &man).is_err() {
            note("this version has no `stickler man`; the archive has no man page");
            let _ = std::fs::remove_dir_all(folder.join("man"));
        }
    }
    let to = build.out.join(format!("{name}.tar.gz"));
    call(Command::new("tar").arg("-C").arg(&build.work).arg("-czf").arg(to).arg(&name))
}

/// Saves the output of the program.
fn save(program: &Path, args: &[&str], to: &Path) -> Outcome {
    let output =
        Command::new(program).args(args).output().map_err(|error| unreadable(program, &error))?;
    if !output.status.success() {
        return Err(format!("`stickler {}` failed", args.join(" ")));
    }
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    std::fs::write(to, output.stdout).map_err(|error| unreadable(to, &error))
}

/// The names under which shells look for completions.
fn file_name(shell: &str) -> &'static str {
    match shell {
        "bash" => "stickler.bash",
        "elvish" => "stickler.elv",
        "fish" => "stickler.fish",
        "powershell" => "_stickler.ps1",
        _ => "_stickler",
    }
}

/// Returns the release features that the manifest of the program defines.
fn release_features() -> Result<Vec<&'static str>, String> {
    let path = paths::root().join("crates/stickler-cli/Cargo.toml");
    let manifest = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    let defines = |feature: &str| {
        let start = format!("{feature} = [");
        manifest.lines().any(|line| line.starts_with(&start))
    };
    Ok(RELEASE_FEATURES.into_iter().filter(|feature| defines(feature)).collect())
}

#[allow(clippy::print_stderr)]
fn note(text: &str) {
    eprintln!("note: {text}");
}
