//! Runs the tests of a project with the test runner that its files indicate, and reads the results of
//! single tests.

mod cargo_target;
mod junit;
mod libtest;
mod nextest;
mod outcome;
mod report;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cap_std::fs::Dir;
use serde_json::Value;

use super::capture::shorten;
use super::{Place, Workspace};
use crate::tool_failure::ToolFailure;
use outcome::TestOutcome;
use results::Results;

/// Limit on the output of a test runner that is read for results, in bytes of each half.
const MAX_HALF_BYTES: usize = 4 << 20;

/// The files that identify the test runner of a project.
const RUNNERS: [(&str, Runner); 7] = [
    (".config/nextest.toml", Runner::Nextest),
    ("Cargo.toml", Runner::Cargo),
    ("package.json", Runner::Npm),
    ("pyproject.toml", Runner::Pytest),
    ("pytest.ini", Runner::Pytest),
    ("go.mod", Runner::Go),
    ("Makefile", Runner::Make),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Cargo,
    Nextest,
    Npm,
    Pytest,
    Go,
    Make,
}

/// The tests to run.
#[derive(Debug)]
pub(crate) struct TestRun<'a> {
    /// A file or a folder.
    pub(crate) place: &'a Place,
    /// Runs only tests whose names contain this text.
    pub(crate) filter: Option<&'a str>,
    pub(crate) limit: Duration,
}

impl Workspace {
    /// Runs tests.
    pub(crate) fn run_tests(&self, run: &TestRun<'_>) -> Result<TestOutcome, ToolFailure> {
        self.require_shell("running tests")?;
        let words = self.test_words(run)?;
        let project = self.project_of(run.place);
        let is_node = project.as_ref().is_some_and(|(path, runner)| {
            *runner == Runner::Npm && self.permissions.test_command.is_empty() && uses_node(path)
        });
        let folder = project.map_or(self.root.clone(), |(path, _)| path);
        let (program, arguments) =
            words.split_first().ok_or_else(|| ToolFailure::runtime("the test command is empty"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder);
        let results = Results::of(&words, is_node);
        let reports = tempfile::tempdir()
            .map_err(|error| ToolFailure::runtime(format!("no temporary folder: {error}")))?;
        let file = reports.path().join("report.xml");
        if let Some(results) = results {
            results.request(&mut command, &file);
        }
        let running = self.running.capturing(MAX_HALF_BYTES);
        let mut finished = running.run(&mut command, run.limit).map_err(|error| {
            ToolFailure::runtime(format!(
                "`{program}` cannot be started: {error}; is it installed?"
            ))
        })?;
        let report = results.and_then(|results| results.read(&finished, &file));
        finished.stdout = shorten(&finished.stdout);
        finished.stderr = shorten(&finished.stderr);
        Ok(TestOutcome { command: words.join(" "), finished, report })
    }

    fn test_words(&self, run: &TestRun<'_>) -> Result<Vec<String>, ToolFailure> {
        let configured = &self.permissions.test_command;
        if !configured.is_empty() {
            let mut words = configured.clone();
            if run.place.path != Path::new(".") {
                words.push(as_argument(&run.place.path));
            }
            words.extend(run.filter.map(str::to_owned));
            return Ok(words);
        }
        let (folder, runner) = self.project_of(run.place).ok_or_else(|| {
            let known: Vec<&str> = RUNNERS.iter().map(|(file, _)| *file).collect();
            ToolFailure::runtime(format!(
                "cannot determine how to run the tests: none of {} exists. The operator of the \
                 server can set `--test-command`",
                known.join(", ")
            ))
        })?;
        let path = self.full_path(run.place);
        let inside = path.strip_prefix(&folder).unwrap_or(Path::new("")).to_owned();
        let inside = if inside == Path::new(".") { PathBuf::new() } else { inside };
        match runner {
            Runner::Cargo | Runner::Nextest => {
                let below = folder.strip_prefix(&self.root).unwrap_or(Path::new(""));
                let below = if below == Path::new("") { Path::new(".") } else { below };
                let package = self.dir.open_dir(below);
                let package =
                    package.map_err(|error| ToolFailure::file(&run.place.given, &error))?;
                let target = cargo_target::of(&package, &inside)?;
                Ok(cargo_words(runner, target, run.filter))
            }
            _ => {
                let inside = Some(inside).filter(|path| path != Path::new(""));
                Ok(runner.words(inside.as_deref(), run.filter))
            }
        }
    }

    /// Returns the nearest enclosing folder with a known test runner.
    fn project_of(&self, place: &Place) -> Option<(PathBuf, Runner)> {
        place.path.ancestors().find_map(|folder| {
            let folder = if folder == Path::new("") { Path::new(".") } else { folder };
            let runner = runner_of(&self.dir.open_dir(folder).ok()?)?;
            let path =
                if folder == Path::new(".") { self.root.clone() } else { self.root.join(folder) };
            Some((path, runner))
        })
    }
}

fn runner_of(folder: &Dir) -> Option<Runner> {
    RUNNERS.iter().find(|(file, _)| folder.is_file(file)).map(|(_, runner)| *runner)
}

/// Returns whether the test script of a package uses node's own test runner.
fn uses_node(folder: &Path) -> bool {
    let package = std::fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    let script = package["scripts"]["test"].as_str().unwrap_or_default();
    script.split_whitespace().any(|word| word == "--test")
}

/// Returns the command line of cargo. A filter of the caller replaces that of the path: libtest would
/// run the tests that match either.
fn cargo_words(
    runner: Runner,
    target: cargo_target::CargoTarget,
    filter: Option<&str>,
) -> Vec<String> {
    let fixed: &[&str] = match runner {
        Runner::Nextest => &["cargo", "nextest", "run", "--no-fail-fast", "--no-tests=pass"],
        _ => &["cargo", "test", "--no-fail-fast"],
    };
    let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    words.extend(target.options);
    if let Some(filter) = filter.map(str::to_owned).or(target.filter) {
        words.extend((runner == Runner::Cargo).then(|| "--".to_owned()));
        words.push(filter);
    }
    words
}

impl Runner {
    /// Returns the command line for a file or folder of the project, or for the whole project.
    fn words(self, inside: Option<&Path>, filter: Option<&str>) -> Vec<String> {
        let path = inside.map(as_argument);
        let (fixed, path): (&[&str], _) = match self {
            Self::Npm => (&["npm", "test", "--"], path),
            Self::Pytest => (&["python3", "-m", "pytest"], path),
            Self::Go => (&["go", "test", "./..."], None),
            Self::Make => (&["make", "test"], None),
            Self::Cargo | Self::Nextest => (&["cargo", "test"], None),
        };
        let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
        words.extend(path);
        if let Some(filter) = filter {
            let option = match self {
                Self::Npm => "-t",
                Self::Pytest => "-k",
                Self::Go => "-run",
                Self::Make => return words,
                Self::Cargo | Self::Nextest => "--",
            };
            words.extend([option.to_owned(), filter.to_owned()]);
        }
        words
    }
}

/// Formats a path so that no program parses it as an option.
fn as_argument(path: &Path) -> String {
    let path = path.display().to_string();
    if path.starts_with('-') { format!("./{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::Runner;
    use std::path::Path;

    #[test]
    fn path_is_never_parsed_as_an_option() {
        assert_eq!(Runner::Pytest.words(Some(Path::new("-x")), None)[3], "./-x");
    }

    #[test]
    fn command_depends_on_the_project() {
        let words = |runner: Runner, path: Option<&str>, filter| {
            runner.words(path.map(Path::new), filter).join(" ")
        };
        assert_eq!(words(Runner::Pytest, Some("t.py"), Some("x")), "python3 -m pytest t.py -k x");
        assert_eq!(words(Runner::Make, Some("t"), Some("x")), "make test");
    }
}
