//! Interoperability checks with third-party servers and clients.
//!
//! | file | contents |
//! | --- | --- |
//! | `install` | installation of the dependencies, with pinned versions |
//! | `cases`, `server` | servers, and calls that are rejected and corrected; corrected calls are sent to the real server |
//! | `clients`, `drivers`, `rmcp_client`, `test_servers` | third-party clients through the gateway to third-party servers |
//! | `conformance`, `target`, `expected_differences` | the official suite, directly and through the gateway, plain and wrapped |
//! | `documents` | the example of the README, and the SARIF of `check` |
//! | `process`, `report` | processes that listen on a port; jobs and their results |

mod cases;
mod clients;
mod conformance;
mod documents;
mod drivers;
mod expected_differences;
mod install;
mod process;
mod report;
mod rmcp_client;
mod server;
mod target;
mod test_servers;

use std::path::Path;
use std::process::Command;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::Outcome;
use crate::paths;
use cases::{Case, ServerUnderTest};
use install::Installed;
use report::{Job, Report};
use server::Server;

/// Selects the checks to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Run only one part
    #[arg(long)]
    only: Option<Part>,
    /// Run only checks with this text in their name
    #[arg(long, value_name = "TEXT")]
    matching: Option<String>,
    /// Use a debug build: faster to build, slower to run
    #[arg(long)]
    debug: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Calls that are rejected and corrected
    Servers,
    /// Third-party clients through the gateway
    Clients,
    /// The official suite through the gateway and on wrapped servers
    Conformance,
}

/// Jobs mostly wait, but on a busy machine the timeouts of the conformance suite expire.
const MAX_PARALLEL_JOBS: usize = 3;

/// Runs `.ci/run`.
pub(crate) fn run_ci() -> Outcome {
    call(Command::new("bash").arg(paths::root().join(".ci/run")))
}

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = paths::root().join("target/interop");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let installing = std::thread::spawn({
        let folder = folder.clone();
        let built =
            paths::root().join("target").join(if options.debug { "debug" } else { "release" });
        move || Installed::prepare(&folder, built)
    });
    let built = build(options.debug);
    let installed = installing.join().map_err(|_| "cannot install".to_owned())??;
    built?;
    let report = Report::default();
    let is_selected = |part: Part| options.only.is_none_or(|only| only == part);
    let mut jobs = Vec::new();
    if is_selected(Part::Conformance) {
        // First, because they take longest.
        jobs.extend(conformance::jobs(&installed));
    }
    if is_selected(Part::Clients) {
        jobs.extend(clients::jobs(&installed)?);
    }
    if is_selected(Part::Servers) {
        let (installed, folder) = (&installed, folder.as_path());
        jobs.extend(
            cases::all(installed)
                .into_iter()
                .map(|s| Job::new(s.package, move || check(installed, &s, folder))),
        );
        jobs.extend(documents::jobs(installed));
    }
    if let Some(text) = &options.matching {
        jobs.retain(|job| job.name.contains(text));
    }
    report.run_all(jobs, MAX_PARALLEL_JOBS);
    report.finish()
}

/// Builds the programs under test.
fn build(debug: bool) -> Outcome {
    let parts: [&[&str]; 2] = [
        &["--package", "stickler-cli", "--bin", "stickler"],
        &["--package", "stickler-rmcp", "--example", "conformance_server"],
    ];
    parts.into_iter().try_for_each(|part| {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet"]).args(part);
        call(if debug { &mut cargo } else { cargo.arg("--release") })
    })
}

fn check(
    installed: &Installed,
    subject: &ServerUnderTest,
    folder: &Path,
) -> Result<String, String> {
    let mut server = Server::start(&subject.command)?;
    let tools = server.request("tools/list", &json!({}))?;
    let file = folder.join(format!("{}.tools.json", subject.package.replace('/', "_")));
    std::fs::write(&file, tools.to_string()).map_err(|error| error.to_string())?;
    for case in &subject.cases {
        check_case(installed, case, &file, &mut server)
            .map_err(|error| format!("{}: {error}", case.what))?;
    }
    Ok(format!("{} calls as expected", subject.cases.len()))
}

/// Checks that a call is rejected with the expected error and that its correction works on the server.
fn check_case(installed: &Installed, case: &Case, tools: &Path, server: &mut Server) -> Outcome {
    let verdict = validate(installed, tools, case.tool, &case.arguments)?;
    let Some((kind, path)) = case.rejected_as else {
        if verdict["valid"] != true {
            return Err(format!("a valid call is rejected: {verdict}"));
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
        return Err(format!("the server rejects {tool} {arguments}: {result}"));
    }
    Ok(())
}

fn validate(
    installed: &Installed,
    tools: &Path,
    tool: &str,
    arguments: &Value,
) -> Result<Value, String> {
    let output = Command::new(installed.stickler())
        .args(["validate", "--format", "json", "--tools"])
        .arg(tools)
        .args([tool, "--args", &arguments.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("unreadable verdict: {error}"))
}

pub(crate) fn call(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}
