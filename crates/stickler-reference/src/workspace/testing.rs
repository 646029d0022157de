//! Runs the tests of a project with the test runner that its files indicate.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cap_std::fs::Dir;

use super::{Finished, Place, Workspace};
use crate::tool_failure::ToolFailure;

/// The files that identify the test runner of a project.
const RUNNERS: [(&str, Runner); 6] = [
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
    /// Runs tests; returns the command line and its outcome.
    pub(crate) fn run_tests(&self, run: &TestRun<'_>) -> Result<(String, Finished), ToolFailure> {
        self.require_shell("running tests")?;
        let words = self.test_words(run)?;
        let folder = self.project_of(run.place).map_or(self.root.clone(), |(path, _)| path);
        let (program, arguments) =
            words.split_first().ok_or_else(|| ToolFailure::runtime("the test command is empty"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder);
        let finished = self.running.run(&mut command, run.limit).map_err(|error| {
            ToolFailure::runtime(format!(
                "`{program}` cannot be started: {error}; is it installed?"
            ))
        })?;
        Ok((words.join(" "), finished))
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
        let inside = path.strip_prefix(&folder).ok().filter(|path| *path != Path::new(""));
        Ok(runner.words(inside, run.filter))
    }

    /// Returns the nearest enclosing folder with a known test runner.
    fn project_of(&self, place: &Place) -> Option<(std::path::PathBuf, Runner)> {
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

impl Runner {
    /// Returns the command line for a file or folder of the project, or for the whole project.
    fn words(self, inside: Option<&Path>, filter: Option<&str>) -> Vec<String> {
        let path = inside.map(as_argument);
        let (fixed, path): (&[&str], _) = match self {
            Self::Cargo => (&["cargo", "test"], inside.and_then(test_target)),
            Self::Npm => (&["npm", "test", "--"], path),
            Self::Pytest => (&["python3", "-m", "pytest"], path),
            Self::Go => (&["go", "test", "./..."], None),
            Self::Make => (&["make", "test"], None),
        };
        let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
        words.extend(path);
        if let Some(filter) = filter {
            let option = match self {
                Self::Cargo => "--",
                Self::Npm => "-t",
                Self::Pytest => "-k",
                Self::Go => "-run",
                Self::Make => return words,
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

/// Returns the option that selects a file of `tests/`, which Cargo identifies by name.
fn test_target(path: &Path) -> Option<String> {
    let is_test = path.parent() == Some(Path::new("tests")) && path.extension()? == "rs";
    let name = path.file_stem()?.to_str()?;
    is_test.then(|| format!("--test={name}"))
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
        assert_eq!(words(Runner::Cargo, None, None), "cargo test");
        assert_eq!(words(Runner::Cargo, Some("tests/a.rs"), None), "cargo test --test=a");
        assert_eq!(words(Runner::Cargo, Some("src/a.rs"), Some("x")), "cargo test -- x");
        assert_eq!(words(Runner::Pytest, Some("t.py"), Some("x")), "python3 -m pytest t.py -k x");
        assert_eq!(words(Runner::Make, Some("t"), Some("x")), "make test");
    }
}
