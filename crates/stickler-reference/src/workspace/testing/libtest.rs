//! Reads the text output of `cargo test`.
//!
//! The test programs write to standard output, each beginning with `running N tests`; cargo names
//! the programs on standard error in the same order.

use std::collections::BTreeMap;

use super::report::{TestCase, TestReport, TestStatus, message};

pub(super) fn read(stdout: &str, stderr: &str) -> TestReport {
    let mut groups = stderr.lines().filter_map(group);
    let mut report = TestReport::default();
    let mut group = None;
    let mut first = 0;
    let mut lines = stdout.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("running ") && line.trim_end().ends_with(['t', 's']) {
            (group, first) = (groups.next(), report.cases.len());
        } else if let Some(mut case) = case(line) {
            case.group.clone_from(&group);
            report.cases.push(case);
        } else if let Some(name) = failure_header(line) {
            let mut output = String::new();
            while let Some(line) = lines.next_if(|line| !ends_output(line)) {
                output.push_str(line);
                output.push('\n');
            }
            let mut cases = report.cases[first..].iter_mut();
            if let Some(case) = cases.find(|case| case.name == name) {
                case.message = message(&output);
            }
        }
    }
    deduplicated(report)
}

/// Reads `Running unittests src/lib.rs (target/…)`, `Running tests/a.rs (…)` or `Doc-tests name`.
fn group(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc tests of {name}"));
    }
    let rest = line.strip_prefix("Running ")?;
    let rest = rest.strip_prefix("unittests ").unwrap_or(rest);
    Some(rest.split(" (").next().unwrap_or(rest).to_owned())
}

/// Reads `test name ... ok`.
fn case(line: &str) -> Option<TestCase> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let (status, reason) = match result.trim_end() {
        "ok" => (TestStatus::Passed, None),
        "FAILED" => (TestStatus::Failed, None),
        "ignored" => (TestStatus::Skipped, None),
        other => (TestStatus::Skipped, Some(other.strip_prefix("ignored, ")?)),
    };
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    Some(TestCase {
        name: name.to_owned(),
        group: None,
        status,
        seconds: None,
        message: reason.map(str::to_owned),
    })
}

/// Reads `---- name stdout ----`.
fn failure_header(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

fn ends_output(line: &str) -> bool {
    line == "failures:" || failure_header(line).is_some()
}

/// A program that prints such lines itself could list a test twice; the last one counts.
fn deduplicated(report: TestReport) -> TestReport {
    let mut places = BTreeMap::new();
    let mut cases: Vec<TestCase> = Vec::new();
    for case in report.cases {
        let place = *places.entry((case.group.clone(), case.name.clone())).or_insert(cases.len());
        if place == cases.len() { cases.push(case) } else { cases[place] = case }
    }
    TestReport { cases, ..report }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::workspace::testing::report::TestStatus;

    const STDOUT: &str = "
running 3 tests
test tests::later ... ignored, slow
test tests::panics - should panic ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' (24808) panicked at src/lib.rs:7:33:
assertion `left == right` failed: sum
  left: 2
 right: 3
stack backtrace:
   0: __rustc::rust_begin_unwind

failures:
    tests::adds

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.67s

running 1 test
test src/lib.rs - (line 1) ... ok
";

    const STDERR: &str = "   Compiling calc v0.1.0
     Running unittests src/lib.rs (/tmp/debug/deps/calc-c6626fb655a8d231)
error: test failed, to rerun pass `--lib`
   Doc-tests calc
";

    #[test]
    fn every_test_has_its_program_status_and_message() {
        let report = read(STDOUT, STDERR);
        let found: Vec<(&str, &str, TestStatus)> = report
            .cases
            .iter()
            .map(|case| (case.name.as_str(), case.group.as_deref().unwrap(), case.status))
            .collect();
        let expected = [
            ("tests::later", "src/lib.rs", TestStatus::Skipped),
            ("tests::panics", "src/lib.rs", TestStatus::Passed),
            ("tests::adds", "src/lib.rs", TestStatus::Failed),
            ("src/lib.rs - (line 1)", "doc tests of calc", TestStatus::Passed),
        ];
        assert_eq!(found, expected);
        let message = report.cases[2].message.as_deref().unwrap();
        assert!(message.starts_with("thread 'tests::adds'"), "{message}");
        assert!(message.ends_with("right: 3"), "{message}");
        assert_eq!(report.cases[0].message.as_deref(), Some("slow"));
    }
}
