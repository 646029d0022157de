//! The npm tarballs: the package itself and the package with the native parts for one platform.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Build, copy, empty, unreadable, version};
use crate::interop::call;
use crate::{Outcome, paths};

const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Builds both tarballs.
pub(super) fn tarballs(build: &Build, program: Option<&Path>) -> Outcome {
    let addon = build_addon(build)?;
    let npm = build.platform.npm()?;
    let name = format!("stickler-mcp-{}", npm.name);
    let folder = build.work.join(&name);
    empty(&folder)?;
    copy(&addon, &folder.join("stickler.node"))?;
    if let Some(program) = program {
        copy(program, &folder.join("bin").join(build.platform.program()))?;
    }
    let mut manifest = json!({
        "name": name,
        "version": version(),
        "description": format!("The native parts of stickler-mcp for {}", npm.name),
        "license": "MIT OR Apache-2.0",
        "os": [npm.os],
        "cpu": [npm.cpu],
        "engines": { "node": ">=20" },
        "files": ["bin", "stickler.node"],
    });
    if let Some(libc) = npm.libc {
        manifest["libc"] = json!([libc]);
    }
    let path = folder.join("package.json");
    std::fs::write(&path, manifest.to_string()).map_err(|error| unreadable(&path, &error))?;
    pack(build, &folder)?;
    pack(build, &main_package(build)?)
}

/// Builds the native module and returns its path.
fn build_addon(build: &Build) -> Result<PathBuf, String> {
    let profile = if build.fast { "fast" } else { "release" };
    let bindings = paths::root().join("bindings");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&bindings);
    cargo.args(["build", "--locked", "--package", "stickler-node", "--profile", profile]);
    let mut folder = bindings.join("target");
    if build.platform.is_cross {
        cargo.args(["--target", &build.platform.triple]);
        folder.push(&build.platform.triple);
    }
    // A shared library cannot be linked statically with musl.
    if build.platform.triple.ends_with("musl") {
        cargo.env("RUSTFLAGS", "-C target-feature=-crt-static");
    }
    call(&mut cargo)?;
    Ok(folder.join(profile).join(build.platform.library("stickler_mcp_node")))
}

/// Copies the package without tests, and checks that all versions are the same.
fn main_package(build: &Build) -> Result<PathBuf, String> {
    let source = paths::root().join("bindings/node");
    let folder = build.work.join("stickler-mcp");
    empty(&folder)?;
    let path = source.join("package.json");
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    let manifest: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let dependencies = manifest["optionalDependencies"].as_object();
    let mut versions = dependencies.into_iter().flatten().map(|(_, version)| version);
    if manifest["version"] != version() || versions.any(|other| other != version()) {
        return Err(format!("{} has other versions than {}", path.display(), version()));
    }
    for file in ["package.json", "README.md"] {
        copy(&source.join(file), &folder.join(file))?;
    }
    for part in ["bin", "lib"] {
        let from = source.join(part);
        for entry in std::fs::read_dir(&from).map_err(|error| unreadable(&from, &error))? {
            let entry = entry.map_err(|error| unreadable(&from, &error))?;
            copy(&entry.path(), &folder.join(part).join(entry.file_name()))?;
        }
    }
    Ok(folder)
}

fn pack(build: &Build, folder: &Path) -> Outcome {
    for license in LICENSES {
        copy(&paths::root().join(license), &folder.join(license))?;
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(npm);
    command.current_dir(folder).args(["pack", "--silent", "--pack-destination"]).arg(&build.out);
    call(&mut command)
}
