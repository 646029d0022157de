//! The official conformance suite, directly and through the gateway, on servers as they are and on
//! wrapped ones: the same checks must have the same outcome.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::install::Installed;
use super::report::Job;
use super::standing::{self, Standing};
use super::target::{Server, Target, Way, command};

const REQUIREMENTS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The suite has timeouts of half a second: on a busy machine it can miss what is there.
const TRIES: usize = 3;

/// A check and its outcome.
type Check = (String, String);

/// The outcome of every check, by scenario.
type Checks = BTreeMap<String, Vec<Check>>;

pub(super) fn jobs(installed: &Installed) -> Vec<Job<'_>> {
    let ways = [
        (Server::Everything, Way::Url),
        (Server::Fixture, Way::Url),
        (Server::Fixture, Way::Command),
        (Server::FastMcp, Way::Url),
        (Server::Rmcp, Way::Wrapped),
        (Server::Rmcp, Way::WrappedRaw),
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
    // Of its own: other comparisons run at the same time.
    let results = installed.folder.join(format!("results/{server:?}-{way:?}-{requirements}"));
    let run = |way: Way| {
        let target = Target::start(installed, server, way)?;
        suite(installed, &target.url(), requirements, &results.join(format!("{way:?}")))
    };
    let mut outcome = Err("not tried".to_owned());
    for attempt in 1..=TRIES {
        let direct = run(Way::Direct)?;
        let through = run(way)?;
        let counted = scored(installed, requirements)?;
        let (one, other) = way.compared();
        let scores = format!(
            "{} {one} and {} {other}, of {} scenarios",
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
        .filter(|one| !standing.explains(one) || is_worse(direct.get(**one), through.get(**one)))
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

/// Whether a check fails through the gateway that does not fail directly. Nothing explains that.
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
