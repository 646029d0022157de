//! Tests the wheel in environments with nothing but Python.

use std::path::Path;
use std::process::Command;

use super::{built, without_rust};
use crate::dist::empty;
use crate::interop::call;
use crate::{Outcome, paths};

const PYTEST: [&str; 2] = ["pytest==9.2.0", "pytest-asyncio==1.5.0"];

/// The packages that the adapters are for, in sets that can be installed together.
const ENVIRONMENTS: [(&str, &[&str]); 4] = [
    ("sdk2", &["mcp==2.3.0", "fastmcp==4.1.2"]),
    ("sdk1", &["mcp==1.30.0", "langchain-mcp-adapters==0.3.2", "openai-agents==0.24.0"]),
    ("litellm", &["litellm[proxy]==1.106.2"]),
    ("contextforge", &["cpex==0.1.4"]),
];

pub(super) fn test(folder: &Path, packages: &Path) -> Outcome {
    let wheel = built(packages, ".whl")?.remove(0);
    run_program(&folder.join("empty"), &wheel)?;
    for (name, packages) in ENVIRONMENTS {
        let environment = folder.join(name);
        install(&environment, &wheel, packages)?;
        let tests = paths::root().join("bindings/python/tests");
        let python = environment.join("bin/python");
        let mut pytest = without_rust(&python, &environment.join("bin"));
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(tests);
        call(pytest.current_dir(paths::root().join("bindings/python")))?;
    }
    let sdk2 = folder.join("sdk2");
    let mut example = without_rust(&sdk2.join("bin/python"), &sdk2.join("bin"));
    call(example.arg(paths::root().join("bindings/python/examples/fastmcp_server.py")))
}

/// Installs the wheel alone and runs both scripts.
fn run_program(environment: &Path, wheel: &Path) -> Outcome {
    empty(environment)?;
    create(environment)?;
    let scripts = environment.join("bin");
    let mut pip = without_rust(&scripts.join("pip"), &scripts);
    call(pip.args(["install", "--quiet", "--no-index"]).arg(wheel))?;
    call(without_rust(&scripts.join("stickler"), &scripts).arg("demo"))?;
    call(without_rust(&scripts.join("stickler-mcp"), &scripts).arg("--version"))?;
    let check = "import stickler_mcp as s; assert s.Validator([]).check('x').valid is False";
    call(without_rust(&scripts.join("python"), &scripts).args(["-c", check]))
}

/// Installs the packages unless they are installed already, and the wheel in any case.
fn install(environment: &Path, wheel: &Path, packages: &[&str]) -> Outcome {
    let scripts = environment.join("bin");
    if !scripts.exists() {
        create(environment)?;
    }
    let pip = || without_rust(&scripts.join("pip"), &scripts);
    call(
        pip()
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(packages)
            .args(PYTEST),
    )?;
    let options = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    call(pip().args(options).arg(wheel))
}

fn create(environment: &Path) -> Outcome {
    call(Command::new("python3").args(["-m", "venv"]).arg(environment))
}
