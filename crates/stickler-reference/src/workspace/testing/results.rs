//! How the results of single tests are obtained from a test runner.

use std::path::Path;
use std::process::Command;

use super::report::TestReport;
use super::{junit, libtest, nextest};
use crate::workspace::Finished;

/// How a test runner reports single tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    Libtest,
    Nextest,
    /// By an option of pytest.
    PytestJunit,
    /// By an environment variable, which node passes to its test runner.
    NodeJunit,
}

impl Results {
    pub(super) fn of(words: &[String], is_node: bool) -> Option<Self> {
        let has = |name: &str| {
            words.iter().any(|word| Path::new(word).file_name().is_some_and(|file| file == name))
        };
        if has("nextest") || has("cargo-nextest") {
            Some(Self::Nextest)
        } else if has("cargo") && has("test") {
            Some(Self::Libtest)
        } else if has("pytest") {
            Some(Self::PytestJunit)
        } else if is_node || (has("node") && has("--test")) {
            Some(Self::NodeJunit)
        } else {
            None
        }
    }

    /// Makes the runner write a report.
    pub(super) fn request(self, command: &mut Command, file: &Path) {
        let file = file.display();
        match self {
            Self::Libtest | Self::Nextest => {}
            Self::PytestJunit => drop(command.arg(format!("--junitxml={file}"))),
            Self::NodeJunit => {
                let options = format!("--test-reporter=junit --test-reporter-destination={file}");
                command.env("NODE_OPTIONS", options);
            }
        }
    }

    pub(super) fn read(self, finished: &Finished, file: &Path) -> Option<TestReport> {
        match self {
            Self::Libtest => Some(libtest::read(&finished.stdout, &finished.stderr)),
            Self::Nextest => Some(nextest::read(&finished.stderr)),
            Self::PytestJunit | Self::NodeJunit => {
                junit::read(&std::fs::read_to_string(file).ok()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Results;

    #[test]
    fn results_are_read_of_known_runners() {
        let results = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            Results::of(&words, false)
        };
        assert_eq!(results("cargo test --lib"), Some(Results::Libtest));
        assert_eq!(results("cargo nextest run"), Some(Results::Nextest));
        assert_eq!(results("venv/bin/pytest -x"), Some(Results::PytestJunit));
        assert_eq!(results("python3 -m pytest"), Some(Results::PytestJunit));
        assert_eq!(results("node --test tests"), Some(Results::NodeJunit));
        assert_eq!(results("sh run-tests.sh"), None);
    }
}
