//! Tests the wheel in environments with nothing but Python.

use std::path::Path;
use std::process::Command;

use super::{built, without_rust};
use crate::dist::empty;
use crate::interop::call;
use crate::{Outcome, paths};

const PYTEST: [&str; 2] = ["pytest==9.2.0", "pytest-asyncio==1.5.0"];

/// Packages that can be installed together.
struct Environment {
    name: &'static str,
    packages: &'static [&'static str],
    /// The tests of the adapters for these packages, which must not be skipped.
    tests: &'static str,
}

/// The packages that the adapters are for.
const ENVIRONMENTS: [Environment; 4] = [
    Environment {
        name: "sdk2",
        packages: &["mcp==2.3.0", "fastmcp==4.1.2"],
        tests: "test_mcp_v2.py,test_fastmcp.py",
    },
    Environment {
        name: "sdk1",
        packages: &["mcp==1.30.0", "langchain-mcp-adapters==0.3.2", "openai-agents==0.24.0"],
        tests: "test_mcp_v1.py,test_langchain.py,test_openai_agents.py",
    },
    Environment {
        name: "litellm",
        packages: &["litellm[proxy]==1.106.2"],
        tests: "test_litellm.py",
    },
    Environment { name: "contextforge", packages: &["cpex==0.1.4"], tests: "test_contextforge.py" },
];

pub(super) fn test(folder: &Path, packages: &Path) -> Outcome {
    let wheel = built(packages, ".whl")?.remove(0);
    run_program(&folder.join("empty"), &wheel)?;
    for Environment { name, packages, tests: required } in ENVIRONMENTS {
        let environment = folder.join(name);
        install(&environment, &wheel, packages)?;
        let tests = paths::root().join("bindings/python/tests");
        let python = environment.join("bin/python");
        let mut pytest = without_rust(&python, &environment.join("bin"));
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(tests);
        pytest.env("STICKLER_TEST_ADAPTERS", required);
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
