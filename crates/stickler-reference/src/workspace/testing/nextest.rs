//! Reads the text output of `cargo nextest run`, which is written to standard error.

use std::collections::BTreeMap;

use super::report::{TestCase, TestReport, TestStatus, message};

pub(super) fn read(stderr: &str) -> TestReport {
    let mut report = TestReport::default();
    let mut places: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
    let mut lines = stderr.lines().peekable();
    while let Some(line) = lines.next() {
        // The failed tests are listed again after the summary.
        if let Some(summary) = line.trim_start().strip_prefix("Summary [") {
            report.unnamed_skipped = skipped(summary);
            break;
        }
        let Some(mut case) = case(line) else { continue };
        let mut output = String::new();
        while let Some(line) = lines.next_if(|line| self::case(line).is_none() && !ends(line)) {
            output.push_str(line.strip_prefix("    ").unwrap_or(line));
            output.push('\n');
        }
        if case.status == TestStatus::Failed {
            case.message = message(failure_text(&output));
        }
        // A retried test is listed for each attempt; the last one counts.
        let key = (case.group.clone(), case.name.clone());
        let place = *places.entry(key).or_insert(report.cases.len());
        if place == report.cases.len() {
            report.cases.push(case);
        } else {
            report.cases[place] = case;
        }
    }
    report
}

/// Reads `PASS [   0.152s] (1/4) calc parser::tests::parses`.
fn case(line: &str) -> Option<TestCase> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (seconds, rest) = rest.split_once("s] ")?;
    let seconds: f64 = seconds.trim().trim_start_matches('>').parse().ok()?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest.trim_start(),
        None => rest,
    };
    let (program, name) = rest.split_once(' ')?;
    let status = match status.trim().rsplit(' ').next()? {
        "PASS" | "LEAK" => TestStatus::Passed,
        "SLOW" => return None,
        status if status.chars().all(|letter| letter.is_ascii_uppercase()) => TestStatus::Failed,
        _ => return None,
    };
    Some(TestCase {
        name: name.trim().to_owned(),
        group: Some(program.to_owned()),
        status,
        seconds: Some(seconds),
        message: None,
    })
}

fn ends(line: &str) -> bool {
    line.starts_with("──") || line.trim_start().starts_with("Summary [")
}

/// Returns the standard error of a failed test, which has the message, or else all its output.
fn failure_text(output: &str) -> &str {
    output.split_once("stderr ───").map_or(output, |(_, text)| text)
}

/// Reads `4 tests run: 3 passed, 1 failed, 1 skipped`.
fn skipped(summary: &str) -> usize {
    let part = summary.split([',', ':']).find_map(|part| part.trim().strip_suffix(" skipped"));
    part.and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::workspace::testing::report::TestStatus;

    const STDERR: &str = "────────────
    Starting 3 tests across 2 binaries (1 test skipped)
        PASS [   0.152s] (1/3) calc parser::tests::parses
        FAIL [   1.795s] (2/3) calc tests::adds
  stdout ───

    running 1 test
    test tests::adds ... FAILED

  stderr ───

    thread 'tests::adds' (24888) panicked at src/lib.rs:7:33:
    assertion `left == right` failed: sum
    stack backtrace:
       0: __rustc::rust_begin_unwind

        PASS [   0.136s] (3/3) calc::whole whole
────────────
     Summary [   1.935s] 3 tests run: 2 passed, 1 failed, 1 skipped
        FAIL [   1.795s] (2/3) calc tests::adds
error: test run failed
";

    #[test]
    fn every_test_is_listed_once_with_its_message() {
        let report = read(STDERR);
        let names: Vec<&str> = report.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["parser::tests::parses", "tests::adds", "whole"]);
        assert_eq!(report.count(TestStatus::Skipped), 1);
        let failed = &report.cases[1];
        assert_eq!((failed.status, failed.seconds), (TestStatus::Failed, Some(1.795)));
        let message = failed.message.as_deref().unwrap();
        assert!(message.starts_with("thread 'tests::adds'"), "{message}");
        assert!(message.ends_with("failed: sum"), "{message}");
    }
}
