//! Runs the official conformance suite directly and through the gateway, on plain and on wrapped
//! servers. Every check must have the same outcome in both runs, except for the expected differences.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::expected_differences::{self, ExpectedDifferences};
use super::install::Installed;
use super::report::Job;
use super::target::{Route, Server, Target, command};

const REQUIREMENTS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The suite's timeouts of half a second can expire on a busy machine.
const MAX_ATTEMPTS: usize = 3;

/// A check and its outcome.
type Check = (String, String);

/// The outcome of every check, by scenario.
type Checks = BTreeMap<String, Vec<Check>>;

pub(super) fn jobs(installed: &Installed) -> Vec<Job<'_>> {
    let routes = [
        (Server::Everything, Route::Url),
        (Server::Fixture, Route::Url),
        (Server::Fixture, Route::Command),
        (Server::FastMcp, Route::Url),
        (Server::Rmcp, Route::Wrapped),
        (Server::Rmcp, Route::WrappedRaw),
    ];
    let mut jobs = Vec::new();
    for requirements in REQUIREMENTS {
        for (server, route) in routes {
            let name = format!("conformance {requirements}, {server:?} by {route:?}");
            jobs.push(Job::new(name, move || compare(installed, server, route, requirements)));
        }
    }
    jobs
}

fn compare(
    installed: &Installed,
    server: Server,
    route: Route,
    requirements: &str,
) -> Result<String, String> {
    // A separate folder, because other comparisons run at the same time.
    let results = installed.folder.join(format!("results/{server:?}-{route:?}-{requirements}"));
    let run = |route: Route| {
        let target = Target::start(installed, server, route)?;
        suite(installed, &target.url(), requirements, &results.join(format!("{route:?}")))
    };
    let mut outcome = Err("not run".to_owned());
    for attempt in 1..=MAX_ATTEMPTS {
        let direct = run(Route::Direct)?;
        let through = run(route)?;
        let counted = scored_scenarios(installed, requirements)?;
        let (one, other) = route.compared();
        let scores = format!(
            "{} {one} and {} {other}, of {} scenarios",
            score(&direct, &counted),
            score(&through, &counted),
            counted.len()
        );
        outcome = check_differences(
            &direct,
            &through,
            &ExpectedDifferences::of(server, route, requirements),
        )
        // A success that needed several attempts is reported: it may hide a race.
        .map(|note| match attempt {
            1 => format!("{scores}{note}"),
            _ => format!("{scores}{note} (only on attempt {attempt})"),
        })
        .map_err(|differences| format!("{scores}; {differences}"));
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Returns an error unless two runs differ exactly in the expected scenarios.
fn check_differences(
    direct: &Checks,
    through: &Checks,
    expected: &ExpectedDifferences,
) -> Result<String, String> {
    let scenarios = direct.keys().chain(through.keys().filter(|one| !direct.contains_key(*one)));
    let differing: Vec<&String> =
        scenarios.filter(|one| direct.get(*one) != through.get(*one)).collect();
    let bad: Vec<String> = differing
        .iter()
        .filter(|one| !expected.contains(one) || is_worse(direct.get(**one), through.get(**one)))
        .map(|one| format!("{one}: {:?} but {:?}", direct.get(*one), through.get(*one)))
        .collect();
    if !bad.is_empty() {
        return Err(bad.join("; "));
    }
    let stale = expected.scenarios().find(|one| !differing.iter().any(|other| other == one));
    match stale {
        Some(stale) => Err(format!("{stale} no longer differs; remove it from the list")),
        None if differing.is_empty() => Ok(", check by check".to_owned()),
        None => Ok(format!(
            "; {} expected differences ({})",
            differing.len(),
            expected_differences::PATH
        )),
    }
}

/// Returns whether a check fails through the gateway and not directly. That is never expected.
fn is_worse(direct: Option<&Vec<Check>>, through: Option<&Vec<Check>>) -> bool {
    let failures = |checks: Option<&Vec<Check>>, id: &str| {
        let checks = checks.into_iter().flatten().filter(|(one, _)| one == id);
        checks.filter(|(_, status)| matches!(&**status, "FAILURE" | "WARNING")).count()
    };
    let mut ids = through.into_iter().flatten().map(|(id, _)| id);
    ids.any(|id| failures(through, id) > failures(direct, id))
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
    // The exit status is not used: it only repeats whether a scenario failed.
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

/// Returns the scenario of a result folder, which is named `server-SCENARIO-DATE`.
fn scenario(folder: &str) -> &str {
    const DATE: usize = "-2026-01-01T00-00-00-000Z".len();
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.get(..name.len().saturating_sub(DATE)).unwrap_or(name)
}

/// Returns the scenarios that count for the score, from the list of the suite.
fn scored_scenarios(installed: &Installed, requirements: &str) -> Result<Vec<String>, String> {
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
