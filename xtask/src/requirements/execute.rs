//! Runs the tests that the rows name, with one `cargo test` per package.
//!
//! A row is covered only if each of its tests ran and passed, those that need reference data included. A test that is
//! skipped by a filter of its own or not part of any test binary counts as a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::page::{Reference, Requirement};

/// The tests of one package.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selection {
    /// Options that select the test binaries.
    targets: BTreeSet<String>,
    names: BTreeSet<String>,
}

/// Runs the named tests and returns a problem for each row with a test that did not pass, and the number of tests.
pub(super) fn run(root: &Path, rows: &[&Requirement]) -> (Vec<String>, usize) {
    let tests = || rows.iter().flat_map(|row| row.tests.iter().map(move |test| (row, test)));
    let mut packages: BTreeMap<String, Selection> = BTreeMap::new();
    for (_, test) in tests() {
        if let Some((package, target, name)) = located(test) {
            let selection = packages.entry(package.to_owned()).or_default();
            selection.targets.insert(target);
            selection.names.insert(name.to_owned());
        }
    }
    let passed: BTreeMap<&str, Vec<String>> = packages
        .iter()
        .map(|(package, selection)| (package.as_str(), passed(root, package, selection)))
        .collect();
    let mut problems = Vec::new();
    for (row, test) in tests() {
        let Some((package, _, name)) = located(test) else { continue };
        let has_passed = passed[package].iter().any(|one| one.rsplit("::").next() == Some(name));
        if !has_passed {
            problems.push(format!("{}: the test `{}::{name}` did not pass", row.id, test.path));
        }
    }
    (problems, packages.values().map(|selection| selection.names.len()).sum())
}

/// Returns the package, the option that selects the test binary, and the name of a test function; `None` for a
/// reference that is not a test function.
fn located(test: &Reference) -> Option<(&str, String, &str)> {
    let [name] = test.items.as_slice() else { return None };
    let parts: Vec<&str> = test.path.split('/').collect();
    let (["crates", package, rest @ ..] | [package, rest @ ..]) = parts.as_slice() else {
        return None;
    };
    let target = match rest {
        ["tests", file, ..] => format!("--test={}", file.strip_suffix(".rs").unwrap_or(file)),
        _ if matches!(*package, "xtask" | "stickler-cli") => "--bins".to_owned(),
        _ => "--lib".to_owned(),
    };
    Some((package, target, name))
}

/// Runs tests of a package and returns the full names of those that passed.
fn passed(root: &Path, package: &str, selection: &Selection) -> Vec<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["test", "--no-fail-fast", "--package", package]);
    cargo.args(&selection.targets).args(["--", "--include-ignored"]).args(&selection.names);
    let Ok(output) = cargo.output() else { return Vec::new() };
    let stdout = String::from_utf8_lossy(&output.stdout);
    passed_tests(&stdout).map(str::to_owned).collect()
}

/// Returns the names in lines such as `test module::name ... ok`.
fn passed_tests(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
        line.ends_with(" ok").then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::{located, passed_tests};
    use crate::requirements::page::Reference;

    fn reference(path: &str, items: &[&str]) -> Reference {
        Reference {
            path: path.to_owned(),
            items: items.iter().map(|item| (*item).to_owned()).collect(),
        }
    }

    #[test]
    fn test_functions_are_located_in_their_binaries() {
        let locate = |path: &str| {
            let test = reference(path, &["t"]);
            located(&test).map(|(package, target, _)| format!("{package} {target}"))
        };
        assert_eq!(
            locate("crates/stickler/tests/core/help.rs").as_deref(),
            Some("stickler --test=core")
        );
        let folder = locate("crates/stickler-rmcp/tests/adapters/client.rs");
        assert_eq!(folder.as_deref(), Some("stickler-rmcp --test=adapters"));
        assert_eq!(locate("crates/stickler/src/suggest.rs").as_deref(), Some("stickler --lib"));
        assert_eq!(locate("xtask/src/main.rs").as_deref(), Some("xtask --bins"));
        assert_eq!(located(&reference(".ci/run", &[])), None);
    }

    #[test]
    fn only_passed_tests_count() {
        let output = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored\n";
        assert_eq!(passed_tests(output).collect::<Vec<_>>(), ["a::b"]);
    }
}
