//! The outcome of a test run, as text and as data.

use serde_json::Value;

use super::report::{TestReport, TestStatus};
use crate::workspace::Finished;

/// A finished test run.
#[derive(Debug)]
pub(crate) struct TestOutcome {
    pub(crate) command: String,
    pub(crate) finished: Finished,
    /// The results of single tests, if the runner is known.
    pub(crate) report: Option<TestReport>,
}

impl TestOutcome {
    /// Whether the runner succeeded and, if results are known, a test was run.
    pub(crate) fn passed(&self) -> bool {
        self.finished.succeeded() && !self.has_no_tests()
    }

    fn has_no_tests(&self) -> bool {
        let ran = |report: &TestReport| {
            report.count(TestStatus::Passed) + report.count(TestStatus::Failed) > 0
        };
        self.report.as_ref().is_some_and(|report| !ran(report))
    }

    /// Whether the single results explain the outcome, so that the output is not needed.
    fn is_explained(&self) -> bool {
        let failed = self.report.as_ref().map(|report| report.count(TestStatus::Failed));
        failed.is_some_and(|failed| self.passed() || failed > 0)
    }

    pub(crate) fn data(&self) -> Value {
        let mut data = self.finished.data();
        if self.is_explained()
            && let Some(fields) = data.as_object_mut()
        {
            fields.remove("stdout");
            fields.remove("stderr");
        }
        data["command"] = self.command.as_str().into();
        data["passed"] = self.passed().into();
        if let Some(report) = &self.report
            && let Value::Object(fields) = report.data()
        {
            data.as_object_mut().into_iter().for_each(|data| data.extend(fields.clone()));
        }
        data
    }

    pub(crate) fn text(&self) -> String {
        let verdict = match (self.passed(), self.has_no_tests() && self.finished.succeeded()) {
            (true, _) => "passed",
            (false, true) => "no tests were run",
            (false, false) => "failed",
        };
        let command = &self.command;
        match &self.report {
            Some(report) if self.is_explained() => {
                format!("{verdict}: {command}\n{}", report.text())
            }
            _ => format!("{verdict}: {command}\n{}", self.finished.text()),
        }
    }
}
