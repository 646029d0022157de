//! Answers of the server about calls, kept as long as it allows.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stickler::tool_validation::ValidationReport;

/// Answers that are kept at once.
const MOST: usize = 256;

/// By tool and arguments.
#[derive(Debug, Default)]
pub(super) struct Answers {
    kept: Mutex<HashMap<(String, String), (Instant, ValidationReport)>>,
}

impl Answers {
    pub(super) fn get(&self, tool: &str, arguments: &str) -> Option<ValidationReport> {
        let question = (tool.to_owned(), arguments.to_owned());
        let kept = self.kept();
        let (until, report) = kept.get(&question)?;
        (Instant::now() < *until).then(|| report.clone())
    }

    pub(super) fn keep(
        &self,
        tool: &str,
        arguments: String,
        seconds: u64,
        report: &ValidationReport,
    ) {
        let Some(until) = Instant::now().checked_add(Duration::from_secs(seconds)) else { return };
        let mut kept = self.kept();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert((tool.to_owned(), arguments), (until, report.clone()));
    }

    /// The tools have changed: what held of them may not hold any more.
    pub(super) fn clear(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(String, String), (Instant, ValidationReport)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
