//! The results of single tests, in one form for all test runners.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::workspace::clip;

/// Limits on the listed tests, and on the message of a failed test in bytes.
const MAX_TESTS: usize = 300;
const MAX_MESSAGE_BYTES: usize = 2000;

/// The results of a test run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TestReport {
    pub(crate) cases: Vec<TestCase>,
    /// Skipped tests that the runner does not name.
    pub(crate) unnamed_skipped: usize,
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TestCase {
    pub(crate) name: String,
    /// The file, class or program that contains the test.
    pub(crate) group: Option<String>,
    pub(crate) status: TestStatus,
    pub(crate) seconds: Option<f64>,
    /// Why the test failed or was skipped.
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestStatus {
    Failed,
    Passed,
    Skipped,
}

impl TestStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
        }
    }
}

impl TestReport {
    pub(crate) fn count(&self, status: TestStatus) -> usize {
        let unnamed = if status == TestStatus::Skipped { self.unnamed_skipped } else { 0 };
        self.cases.iter().filter(|case| case.status == status).count() + unnamed
    }

    /// Returns the results as data, failed tests first.
    pub(crate) fn data(&self) -> Value {
        let mut cases: Vec<&TestCase> = self.cases.iter().collect();
        cases.sort_by_key(|case| case.status);
        let shown: Vec<Value> = cases.iter().take(MAX_TESTS).map(|case| case.data()).collect();
        json!({
            "counts": {
                "passed": self.count(TestStatus::Passed),
                "failed": self.count(TestStatus::Failed),
                "skipped": self.count(TestStatus::Skipped),
            },
            "left_out": cases.len().saturating_sub(MAX_TESTS), "tests": shown,
        })
    }

    /// Returns the counts and the failed tests as text.
    pub(crate) fn text(&self) -> String {
        let [passed, failed, skipped] =
            [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped]
                .map(|status| self.count(status));
        let mut text = format!("{passed} passed, {failed} failed, {skipped} skipped");
        let failures = self.cases.iter().filter(|case| case.status == TestStatus::Failed);
        for case in failures.take(MAX_TESTS) {
            let _ = write!(text, "\n\nFAILED {}", case.name);
            if let Some(group) = &case.group {
                let _ = write!(text, " ({group})");
            }
            for line in case.message.iter().flat_map(|message| message.lines()) {
                let _ = write!(text, "\n  {line}");
            }
        }
        text
    }
}

impl TestCase {
    fn data(&self) -> Value {
        let mut data = json!({ "name": self.name, "status": self.status.name() });
        if let Some(group) = &self.group {
            data["group"] = group.as_str().into();
        }
        if let Some(seconds) = self.seconds {
            data["seconds"] = seconds.into();
        }
        if let Some(message) = &self.message {
            data["message"] = message.as_str().into();
        }
        data
    }
}

/// Shortens a failure message and removes its stack trace.
pub(super) fn message(text: &str) -> Option<String> {
    let text = text.split("\nstack backtrace:").next().unwrap_or_default().trim();
    let shown = clip(text, MAX_MESSAGE_BYTES);
    let cut = if shown.len() < text.len() { "…" } else { "" };
    (!text.is_empty()).then(|| format!("{shown}{cut}"))
}
