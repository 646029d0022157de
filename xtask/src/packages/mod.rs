//! `cargo xtask packages`: builds the wheel and the npm tarballs, installs them into empty environments without a Rust
//! toolchain, and runs the demo, the examples, the conformance table and the tests of the adapters there.
//!
//! Everything is built without link-time optimization, and the program is the debug build of the tests.

mod node;
mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Parser, ValueEnum};

use crate::interop::call;
use crate::{Outcome, dist, paths};

/// Where the programs of a system are.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Selects the packages to test.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Test only one package
    #[arg(long)]
    only: Option<Language>,
    /// Test the packages that an earlier run built
    #[arg(long)]
    built: bool,
    /// Test the packages in this folder, such as those of `cargo xtask dist`
    #[arg(long, value_name = "DIR", conflicts_with = "built")]
    dist: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    Python,
    Node,
}

/// The options of `dist` for a test.
#[derive(Debug, Parser)]
struct DistOptions {
    #[command(flatten)]
    dist: dist::Options,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = paths::root().join("target/packages");
    let packages = match &options.dist {
        Some(packages) => paths::root().join(packages),
        None => folder.join("dist"),
    };
    if !options.built && options.dist.is_none() {
        build(&packages)?;
    }
    let is_selected = |language| options.only.is_none_or(|only| only == language);
    if is_selected(Language::Python) {
        python::test(&folder.join("python"), &packages)?;
    }
    if is_selected(Language::Node) {
        node::test(&folder.join("node"), &packages)?;
    }
    Ok(())
}

fn build(packages: &Path) -> Outcome {
    call(
        Command::new("cargo")
            .args(["build", "--quiet", "--package", "stickler-cli"])
            .current_dir(paths::root()),
    )?;
    let program = paths::root().join("target/debug/stickler");
    let packages = packages.to_string_lossy();
    let program = program.to_string_lossy();
    let arguments = ["dist", "--fast", "--binary", &program, "--out", &packages];
    let options = DistOptions::try_parse_from(arguments).map_err(|error| error.to_string())?;
    dist::run(&options.dist)
}

/// Returns the built files with an ending.
fn built(packages: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(packages);
    let entries = entries.map_err(|error| format!("{}: {error}", packages.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let found: Vec<PathBuf> =
        paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    if found.is_empty() {
        Err(format!("no `*{ending}` in {}", packages.display()))
    } else {
        Ok(found)
    }
}

/// Returns a command that finds the programs of an environment and of the system, but no Rust toolchain.
fn without_rust(program: &Path, first: &Path) -> Command {
    let has_rust =
        |folder: &PathBuf| ["cargo", "rustc"].iter().any(|tool| folder.join(tool).exists());
    let path = std::env::var_os("PATH").unwrap_or_default();
    // CI installs Node into a folder of its own.
    let others = std::env::split_paths(&path).filter(|folder| !has_rust(folder));
    let system = SYSTEM_FOLDERS.iter().map(PathBuf::from);
    let folders = std::iter::once(first.to_path_buf()).chain(others).chain(system);
    let mut command = Command::new(program);
    // No folder contains the separator: each is a part of such a list, or a path below `target`.
    command.env("PATH", std::env::join_paths(folders).unwrap_or_default());
    for variable in ["CARGO_HOME", "RUSTUP_HOME", "VIRTUAL_ENV", "PYTHONPATH"] {
        command.env_remove(variable);
    }
    command
}
