//! Checks that the references of a row exist.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::page::{Reference, Requirement, Status};
use super::source;

/// The prefix of a developer task, which is allowed in place of a test.
const TASK: &str = "cargo xtask ";

/// Resolves references relative to a root folder; every file is read once.
pub(super) struct Checker {
    root: PathBuf,
    files: HashMap<String, Option<String>>,
}

impl Checker {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), files: HashMap::new() }
    }

    /// Returns all problems of a row. References must exist even if the row has the status `later`.
    pub(super) fn check(&mut self, requirement: &Requirement) -> Vec<String> {
        let mut problems = Vec::new();
        if requirement.status == Status::Covered {
            let missing = |list: &[Reference], what| list.is_empty().then_some(what);
            problems.extend(missing(&requirement.places, "it is covered, but names no place"));
            problems.extend(missing(&requirement.tests, "it is covered, but names no test"));
        }
        let mut problems: Vec<String> = problems.into_iter().map(str::to_owned).collect();
        problems.extend(requirement.places.iter().filter_map(|place| self.place(place)));
        problems.extend(requirement.tests.iter().filter_map(|test| self.test(test)));
        problems.iter().map(|problem| format!("{}: {problem}", requirement.id)).collect()
    }

    fn place(&mut self, place: &Reference) -> Option<String> {
        if place.items.is_empty() {
            return self.missing_path(&place.path);
        }
        let Some(text) = self.text(&place.path) else {
            return Some(format!("there is no file `{}`", place.path));
        };
        let missing = place.items.iter().find(|item| !source::defines(text, item))?;
        Some(format!("`{}` does not define `{missing}`", place.path))
    }

    fn test(&mut self, named: &Reference) -> Option<String> {
        let path = &named.path;
        let is_rust = Path::new(path).extension().is_some_and(|extension| extension == "rs");
        match named.items.as_slice() {
            [] if path.starts_with(TASK) => self.missing_task(path),
            [] if is_rust => Some(format!("`{path}` names no test function")),
            [] => self.missing_path(path),
            [name] => match self.text(path) {
                None => Some(format!("there is no file `{path}`")),
                Some(code) => source::missing_test(code, name).map(|why| format!("`{path}` {why}")),
            },
            _ => Some(format!("`{path}::{}` is not `path::test_function`", named.items.join("::"))),
        }
    }

    fn missing_task(&self, command: &str) -> Option<String> {
        let name = command.strip_prefix(TASK)?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let places = [format!("xtask/src/{name}.rs"), format!("xtask/src/{name}/mod.rs")];
        let exists = is_name && places.iter().any(|place| self.root.join(place).is_file());
        (!exists).then(|| format!("there is no task `{command}`"))
    }

    fn missing_path(&self, path: &str) -> Option<String> {
        let exists = is_inside(path) && self.root.join(path).exists();
        (!exists).then(|| format!("there is no `{path}`"))
    }

    fn text(&mut self, path: &str) -> Option<&str> {
        let file = self.root.join(path);
        let read = || is_inside(path).then(|| fs::read_to_string(file).ok()).flatten();
        self.files.entry(path.to_owned()).or_insert_with(read).as_deref()
    }
}

/// Returns whether a path stays within the repository.
fn is_inside(path: &str) -> bool {
    let path = Path::new(path);
    path.is_relative() && !path.components().any(|part| part.as_os_str() == "..")
}

#[cfg(test)]
mod tests {
    use super::Checker;
    use crate::paths;
    use crate::requirements::page;

    /// Returns the problems of a row that refers to this repository.
    fn problems(places: &str, tests: &str, status: &str) -> Vec<String> {
        let text = format!(
            "## 0: x\n| id | requirement | where | test | status |\n| - | - | - | - | - |\n\
             | 0-01 | words | {places} | {tests} | {status} |"
        );
        let page = page::read(&text);
        assert_eq!(page.problems, [""; 0]);
        Checker::new(&paths::root()).check(&page.requirements[0])
    }

    const PLACE: &str = "`xtask/src/requirements/check.rs::Checker::check`";
    const TEST: &str = "`xtask/src/requirements/check.rs::existing_references_have_no_problems`";

    #[test]
    fn existing_references_have_no_problems() {
        assert_eq!(problems(PLACE, TEST, "covered"), [""; 0]);
        assert_eq!(problems("`xtask`, `Cargo.toml`", "`Cargo.toml`", "covered"), [""; 0]);
        assert_eq!(problems("`Cargo.toml`", "`cargo xtask bench`", "covered"), [""; 0]);
        assert_eq!(problems("", "", "later"), [""; 0]);
    }

    #[test]
    fn covered_row_requires_a_place_and_a_test() {
        assert_eq!(problems("", TEST, "covered"), ["0-01: it is covered, but names no place"]);
        assert_eq!(problems(PLACE, "", "covered"), ["0-01: it is covered, but names no test"]);
    }

    #[test]
    fn missing_files_items_and_tests_are_all_reported() {
        let places = "`xtask/src/none.rs`, `xtask/src/none.rs::X`, `xtask/src/main.rs::Missing`";
        let tests = "`xtask/src/none.rs::t`, `xtask/src/main.rs::nothing`, `xtask/src/requirements/check.rs::place`";
        let reported = problems(places, tests, "covered");
        assert_eq!(
            reported,
            [
                "0-01: there is no `xtask/src/none.rs`",
                "0-01: there is no file `xtask/src/none.rs`",
                "0-01: `xtask/src/main.rs` does not define `Missing`",
                "0-01: there is no file `xtask/src/none.rs`",
                "0-01: `xtask/src/main.rs` has no test `nothing`",
                "0-01: `xtask/src/requirements/check.rs` has `place`, which is not a test",
            ]
        );
    }

    #[test]
    fn missing_task_is_reported() {
        let reported = problems(PLACE, "`cargo xtask magic`", "covered");
        assert_eq!(reported, ["0-01: there is no task `cargo xtask magic`"]);
        assert_eq!(problems(PLACE, "`cargo xtask ../xtask/main`", "covered").len(), 1);
    }

    #[test]
    fn rust_file_without_a_function_is_not_a_test() {
        assert_eq!(problems(PLACE, "`xtask/src/main.rs`", "covered").len(), 1);
    }

    #[test]
    fn later_row_may_name_only_existing_items() {
        assert_eq!(problems("`xtask/src/none.rs`", "", "later").len(), 1);
    }

    #[test]
    fn paths_outside_the_repository_are_rejected() {
        assert_eq!(problems("`xtask/../Cargo.toml`, `/etc/passwd`", TEST, "covered").len(), 2);
    }
}
