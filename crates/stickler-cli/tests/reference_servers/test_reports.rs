//! Test tools report each test of real test runners.

use std::process::Command;

use serde_json::{Value, json};

use crate::root::{Root, has};
use crate::session::{Session, text};

/// A project folder without the files of [`Root`].
fn project(files: &[(&str, &str)]) -> Root {
    let root = Root::new();
    for name in ["Cargo.toml", "src/main.rs"] {
        std::fs::remove_file(root.path().join(name)).unwrap();
    }
    for (name, content) in files {
        root.write(name, content);
    }
    root
}

const MANIFEST: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

const LIBRARY: &str = "pub mod parser;
pub fn add(a: i32, b: i32) -> i32 { a - b }
#[cfg(test)]
mod tests {
    #[test] fn adds() { assert_eq!(super::add(1, 1), 2); }
    #[test] #[ignore = \"slow\"] fn later() {}
}
";

const PARSER: &str = "#[cfg(test)]\nmod tests { #[test] fn parses() {} }\n";

const WHOLE: &str = "#[test] fn whole() { assert_eq!(calc::add(2, 2), 4); }\n";

fn crate_with_a_bug() -> Root {
    project(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        ("src/parser.rs", PARSER),
        ("tests/whole.rs", WHOLE),
    ])
}

/// Runs tests through the gateway and returns the text and the data.
fn test(root: &Root, path: &str) -> (String, Value) {
    let mut session = Session::gateway("project", &root.path(), &["--allow-shell"]);
    let call = json!({ "test_path": path, "timeout_seconds": 300 });
    let result = session.succeeds("run_test_task", call);
    (text(&result), result["structuredContent"].clone())
}

fn statuses(data: &Value) -> Vec<(String, String)> {
    let tests = data["tests"].as_array().unwrap_or_else(|| panic!("{data}"));
    let text = |test: &Value, key: &str| test[key].as_str().unwrap().to_owned();
    let mut found: Vec<(String, String)> =
        tests.iter().map(|test| (text(test, "name"), text(test, "status"))).collect();
    found.sort();
    found
}

fn owned(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, status)| ((*name).to_owned(), (*status).to_owned())).collect()
}

#[test]
fn failing_test_is_found_fixed_and_run_again() {
    if !has("cargo") {
        return;
    }
    let root = crate_with_a_bug();
    let (message, data) = test(&root, ".");
    let expected = owned(&[
        ("parser::tests::parses", "passed"),
        ("tests::adds", "failed"),
        ("tests::later", "skipped"),
        ("whole", "failed"),
    ]);
    assert_eq!(statuses(&data), expected);
    assert_eq!(data["counts"], json!({ "passed": 1, "failed": 2, "skipped": 1 }));
    assert!(
        message.starts_with("failed: cargo test --no-fail-fast\n1 passed, 2 failed, 1 skipped"),
        "{message}"
    );
    assert!(message.contains("FAILED tests::adds (src/lib.rs)"), "{message}");
    assert!(message.contains("FAILED whole (tests/whole.rs)"), "{message}");
    assert!(message.contains("left: 0"), "{message}");
    // The agent corrects the function and runs the file with the failed test.
    let mut sandbox = Session::gateway("sandbox", &root.path(), &[]);
    let edits = json!([{ "old_text": "a - b", "new_text": "a + b" }]);
    sandbox.succeeds("apply_surgical_edits", json!({ "path": "src/lib.rs", "edits": edits }));
    let (_, data) = test(&root, "tests/whole.rs");
    assert_eq!((&data["passed"], statuses(&data)), (&json!(true), owned(&[("whole", "passed")])));
    let (message, _) = test(&root, ".");
    assert!(
        message.starts_with("passed: cargo test --no-fail-fast\n3 passed, 0 failed"),
        "{message}"
    );
}

#[test]
fn path_of_a_module_runs_its_tests_only() {
    if !has("cargo") {
        return;
    }
    let root = crate_with_a_bug();
    let (_, data) = test(&root, "src/parser.rs");
    assert_eq!(data["command"], "cargo test --no-fail-fast --lib -- parser::");
    assert_eq!(statuses(&data), owned(&[("parser::tests::parses", "passed")]));
    root.write("docs/notes.md", "");
    let mut session = Session::gateway("project", &root.path(), &["--allow-shell"]);
    let message = session.fails("run_test_task", json!({ "test_path": "docs/notes.md" }));
    assert!(message.contains("cargo cannot select the tests of `docs/notes.md`"), "{message}");
}

#[test]
fn code_that_does_not_compile_is_reported_with_the_compiler_errors() {
    if !has("cargo") {
        return;
    }
    let root = crate_with_a_bug();
    root.write("src/parser.rs", "fn broken( {}\n");
    let (message, data) = test(&root, "src");
    assert_eq!((&data["passed"], &data["tests"]), (&json!(false), &json!([])));
    assert!(message.starts_with("failed: cargo test"), "{message}");
    assert!(message.contains("error: "), "{message}");
}

#[test]
fn nextest_results_are_reported() {
    let has_nextest = Command::new("cargo").args(["nextest", "--version"]).output();
    if !has_nextest.is_ok_and(|output| output.status.success()) {
        println!("skipped: cargo-nextest is not installed");
        return;
    }
    let root = crate_with_a_bug();
    root.write(".config/nextest.toml", "");
    let (message, data) = test(&root, "src/lib.rs");
    assert!(message.starts_with("failed: cargo nextest run"), "{message}");
    let expected = owned(&[("parser::tests::parses", "passed"), ("tests::adds", "failed")]);
    assert_eq!(statuses(&data), expected);
    assert_eq!(data["counts"]["skipped"], 1);
    assert!(message.contains("left: 0"), "{message}");
}

#[test]
fn pytest_results_are_reported() {
    let has_pytest = Command::new("python3").args(["-m", "pytest", "--version"]).output();
    if !has_pytest.is_ok_and(|output| output.status.success()) {
        println!("skipped: pytest is not installed");
        return;
    }
    let tests = "import pytest
def test_adds():
    assert 1 + 1 == 2
def test_fails():
    assert [1, 2] == [1, 3], 'lists differ'
@pytest.mark.skip(reason='later')
def test_skipped():
    pass
class TestGroup:
    def test_inner(self):
        pass
";
    let root = project(&[("pytest.ini", "[pytest]\n"), ("tests/test_calc.py", tests)]);
    let (message, data) = test(&root, "tests/test_calc.py");
    let expected = owned(&[
        ("test_adds", "passed"),
        ("test_fails", "failed"),
        ("test_inner", "passed"),
        ("test_skipped", "skipped"),
    ]);
    assert_eq!(statuses(&data), expected);
    assert!(
        message.starts_with(
            "failed: python3 -m pytest tests/test_calc.py\n2 passed, 1 failed, 1 skipped"
        ),
        "{message}"
    );
    assert!(message.contains("lists differ"), "{message}");
}

#[test]
fn node_results_are_reported() {
    if !has("node") || !has("npm") {
        return;
    }
    let tests = "const { test, describe } = require('node:test');
const assert = require('node:assert');
test('adds', () => assert.strictEqual(1 + 1, 2));
test('fails', () => assert.strictEqual(3 - 1, 1, 'difference'));
test.skip('later', () => {});
describe('group', () => test('inner', () => {}));
";
    let package = r#"{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}"#;
    let root = project(&[("package.json", package), ("test/calc.test.js", tests)]);
    let (message, data) = test(&root, "test/calc.test.js");
    let expected = owned(&[
        ("adds", "passed"),
        ("fails", "failed"),
        ("group > inner", "passed"),
        ("later", "skipped"),
    ]);
    assert_eq!(statuses(&data), expected);
    assert!(
        message.starts_with("failed: npm test -- test/calc.test.js\n2 passed, 1 failed, 1 skipped"),
        "{message}"
    );
    assert!(message.contains("difference"), "{message}");
}
