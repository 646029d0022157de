//! Stickler beside real third-party servers.
//!
//! Each server is installed by its package name, asked for its tools, and sent calls that Stickler
//! refuses and corrects: the correction is only as good as what the real server says to it.

mod cases;
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;
use crate::paths;
use cases::{Case, Host, Subject};
use server::Server;

/// The same steps as `.ci/run`.
pub(crate) fn run_ci() -> Outcome {
    call(Command::new("bash").arg(paths::root().join(".ci/run")))
}

#[allow(clippy::print_stdout)]
pub(crate) fn run() -> Outcome {
    let folder = paths::root().join("target/interop");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    call(Command::new("cargo").args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "stickler-cli",
    ]))?;
    let mut checked = 0;
    for subject in cases::all(&folder) {
        if !subject.host.is_there() {
            println!("skipped: {} needs `{}`", subject.package, subject.host.program());
            continue;
        }
        let calls =
            check(&subject, &folder).map_err(|error| format!("{}: {error}", subject.package))?;
        println!("{}: {calls} calls as they should be", subject.package);
        checked += calls;
    }
    println!("{checked} passed, 0 failed");
    Ok(())
}

fn check(subject: &Subject, folder: &Path) -> Result<usize, String> {
    let mut server = Server::start(&install(subject, folder)?)?;
    let tools = server.request("tools/list", &json!({}))?;
    let file = folder.join(format!("{}.tools.json", subject.package.replace('/', "_")));
    std::fs::write(&file, tools.to_string()).map_err(|error| error.to_string())?;
    for case in &subject.cases {
        check_case(case, &file, &mut server).map_err(|error| format!("{}: {error}", case.what))?;
    }
    Ok(subject.cases.len())
}

/// Refused with the expected finding, and the corrected call works on the real server.
fn check_case(case: &Case, tools: &Path, server: &mut Server) -> Outcome {
    let verdict = validate(tools, case.tool, &case.arguments)?;
    let Some((kind, path)) = case.refused_as else {
        if verdict["valid"] != true {
            return Err(format!("a good call is refused: {verdict}"));
        }
        return accepted(server, case.tool, &case.arguments);
    };
    let errors = verdict["errors"].as_array().cloned().unwrap_or_default();
    if !errors.iter().any(|error| error["kind"] == kind && error["path"] == path) {
        return Err(format!("expected {kind} at {path}, got {verdict}"));
    }
    match verdict["corrected"].as_object() {
        Some(call) => {
            accepted(server, call["name"].as_str().unwrap_or_default(), &call["arguments"])
        }
        None if case.correctable => Err(format!("no corrected call: {verdict}")),
        None => Ok(()),
    }?;
    case.afterwards.map_or(Ok(()), |afterwards| afterwards())
}

fn accepted(server: &mut Server, tool: &str, arguments: &Value) -> Outcome {
    let result = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
    if result["isError"] == true {
        return Err(format!("the server refuses {tool} {arguments}: {result}"));
    }
    Ok(())
}

fn validate(tools: &Path, tool: &str, arguments: &Value) -> Result<Value, String> {
    let binary = paths::root().join("target/release/stickler");
    let output = Command::new(binary)
        .args(["validate", "--format", "json", "--tools"])
        .arg(tools)
        .args([tool, "--args", &arguments.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("unreadable verdict: {error}"))
}

/// Installs a server by its package name; the command that starts it.
fn install(subject: &Subject, folder: &Path) -> Result<Vec<String>, String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut command = match subject.host {
        Host::Node => {
            let prefix = text(folder.join("node"));
            let options = ["install", "--silent", "--no-fund", "--no-audit", "--prefix"];
            call(Command::new("npm").args(options).args([&prefix, subject.package]))?;
            vec![text(folder.join("node/node_modules/.bin").join(subject.program))]
        }
        Host::Python => {
            let environment = folder.join("python");
            call(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
            let pip = environment.join("bin/pip");
            call(Command::new(pip).args(["install", "--quiet", subject.package]))?;
            vec![text(environment.join("bin").join(subject.program))]
        }
    };
    command.extend(subject.arguments.iter().cloned());
    Ok(command)
}

pub(crate) fn call(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}
