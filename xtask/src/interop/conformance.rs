//! The official conformance suite, directly and through the gateway: the same checks must have the
//! same outcome.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::install::Installed;
use super::process::Listening;
use super::report::Job;
use super::standing::{self, Standing};

const REQUIREMENTS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The suite has timeouts of half a second: on a busy machine it can miss what is there.
const TRIES: usize = 3;

/// Servers that the suite is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    Everything,
    Fixture,
}

/// How the suite gets to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Direct,
    /// Through the gateway to a server that listens.
    Url,
    /// Through the gateway to a server that it starts.
    Command,
}

/// The outcome of every check, by scenario.
type Checks = BTreeMap<String, Vec<(String, String)>>;

pub(super) fn jobs(installed: &Installed) -> Vec<Job<'_>> {
    let ways = [
        (Server::Everything, Way::Url),
        (Server::Fixture, Way::Url),
        (Server::Fixture, Way::Command),
    ];
    let mut jobs = Vec::new();
    for requirements in REQUIREMENTS {
        for (server, way) in ways {
            let name = format!("conformance {requirements}, {server:?} by {way:?}");
            jobs.push(Job::new(name, move || compare(installed, server, way, requirements)));
        }
    }
    jobs
}

fn compare(
    installed: &Installed,
    server: Server,
    way: Way,
    requirements: &str,
) -> Result<String, String> {
    let mut outcome = Err("not tried".to_owned());
    for attempt in 1..=TRIES {
        let direct = run(installed, server, Way::Direct, requirements)?;
        let through = run(installed, server, way, requirements)?;
        let counted = scored(installed, requirements)?;
        let scores = format!(
            "{} directly and {} through the gateway, of {} scenarios",
            score(&direct, &counted),
            score(&through, &counted),
            counted.len()
        );
        outcome = judge(&direct, &through, &Standing::of(server, way, requirements))
            // What only a later try shows is worth a look.
            .map(|note| match attempt {
                1 => format!("{scores}{note}"),
                _ => format!("{scores}{note} (only at try {attempt})"),
            })
            .map_err(|differences| format!("{scores}; {differences}"));
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Whether two runs differ only where they must.
fn judge(direct: &Checks, through: &Checks, standing: &Standing) -> Result<String, String> {
    let scenarios = direct.keys().chain(through.keys().filter(|one| !direct.contains_key(*one)));
    let differing: Vec<&String> =
        scenarios.filter(|one| direct.get(*one) != through.get(*one)).collect();
    let bad: Vec<String> = differing
        .iter()
        .filter(|one| !standing.explains(one))
        .map(|one| format!("{one}: {:?} but {:?}", direct.get(*one), through.get(*one)))
        .collect();
    if !bad.is_empty() {
        return Err(bad.join("; "));
    }
    let stale = standing.scenarios().find(|one| !differing.iter().any(|other| other == one));
    match stale {
        Some(stale) => Err(format!("{stale} does not differ any more: take it out of the list")),
        None if differing.is_empty() => Ok(", check by check".to_owned()),
        None => Ok(format!("; {} differ as they must ({})", differing.len(), standing::WHERE)),
    }
}

fn run(
    installed: &Installed,
    server: Server,
    way: Way,
    requirements: &str,
) -> Result<Checks, String> {
    let program = |arguments: &[&str]| -> Vec<String> {
        let mut program = match server {
            Server::Everything => installed.npm_program("mcp-server-everything"),
            Server::Fixture => installed.script("server.mjs"),
        };
        program.extend(arguments.iter().map(|&one| one.to_owned()));
        program
    };
    let listening = match (way, server) {
        (Way::Command, _) => None,
        (_, Server::Everything) => Some(Listening::start(|port| {
            let mut command = command(&program(&["streamableHttp"]));
            command.env("PORT", port.to_string());
            command
        })?),
        (_, Server::Fixture) => {
            Some(Listening::start(|port| command(&program(&[&port.to_string()])))?)
        }
    };
    let gateway = match (way, &listening) {
        (Way::Direct, _) => None,
        (Way::Url, Some(server)) => Some(Listening::gateway(&["--url".to_owned(), server.url()])?),
        _ => {
            let mut server = vec!["--".to_owned()];
            server.extend(program(&[]));
            Some(Listening::gateway(&server)?)
        }
    };
    let target = gateway.as_ref().or(listening.as_ref()).ok_or("nothing to test")?;
    let folder = format!("{server:?}-{way:?}-{requirements}");
    suite(installed, &target.url(), requirements, &installed.folder.join("results").join(folder))
}

fn suite(
    installed: &Installed,
    url: &str,
    requirements: &str,
    results: &Path,
) -> Result<Checks, String> {
    let _ = std::fs::remove_dir_all(results);
    let mut suite = command(&installed.npm_program("conformance"));
    suite.args(["server", "--url", url, "--requirements", requirements, "--output-dir"]);
    suite.arg(results);
    // It fails where a scenario does, which is not the question here.
    suite.output().map_err(|error| format!("cannot run the suite: {error}"))?;
    let entries = std::fs::read_dir(results).map_err(|_| "the suite left no results".to_owned())?;
    let mut all = Checks::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A scenario without checks leaves an empty folder.
        let checks = std::fs::read(entry.path().join("checks.json")).unwrap_or_default();
        let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap_or_default();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let checks = checks.iter().map(|one| (text(one, "id"), text(one, "status")));
        all.insert(scenario(&name).to_owned(), checks.collect());
    }
    if all.is_empty() { Err("the suite ran no scenario".to_owned()) } else { Ok(all) }
}

/// A folder of results is called `server-SCENARIO-DATE`.
fn scenario(folder: &str) -> &str {
    const DATE: usize = "-2026-01-01T00-00-00-000Z".len();
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.get(..name.len().saturating_sub(DATE)).unwrap_or(name)
}

/// The scenarios that count, from the suite's own list.
fn scored(installed: &Installed, requirements: &str) -> Result<Vec<String>, String> {
    let package = installed.folder.join("node/node_modules/@modelcontextprotocol/conformance");
    let file = package.join("requirements").join(format!("{requirements}.yaml"));
    let list = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines = list.lines().skip_while(|line| *line != "server:").skip(1);
    let names = lines.take_while(|line| line.starts_with(' ') || line.trim().is_empty());
    Ok(names.filter_map(|line| line.trim().strip_prefix("- ").map(str::to_owned)).collect())
}

fn score(checks: &Checks, scored: &[String]) -> usize {
    let passes = |name: &&String| {
        let checks = checks.get(*name);
        checks.is_some_and(|all| {
            all.iter().any(|(_, status)| status == "SUCCESS")
                && all.iter().all(|(_, status)| status != "FAILURE")
        })
    };
    scored.iter().filter(passes).count()
}

fn command(parts: &[String]) -> Command {
    let mut command = Command::new(parts.first().map_or("", String::as_str));
    command.args(parts.get(1..).unwrap_or_default());
    command
}
