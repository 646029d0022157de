//! Cache of validation reports that the server has allowed the client to reuse.
//!
//! Entries are keyed by tool and arguments and expire after the number of seconds that the server announced. The cache is
//! cleared when something changes that the server names in `invalidateOn`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stickler::tool_validation::{AnswerCache, ValidationReport};

/// Validation reports by tool and arguments.
#[derive(Debug)]
pub(super) struct ValidationReportCache {
    reports: Mutex<AnswerCache<ValidationReport>>,
    started: Instant,
}

impl ValidationReportCache {
    /// Returns the cached report, unless it has expired.
    pub(super) fn get(&self, tool: &str, arguments: &str) -> Option<ValidationReport> {
        self.reports().get(&key(tool, arguments), self.started.elapsed()).cloned()
    }

    /// Caches a report for `seconds`.
    pub(super) fn insert(
        &self,
        tool: &str,
        arguments: &str,
        seconds: u64,
        report: &ValidationReport,
    ) {
        let expires_at = self.started.elapsed().saturating_add(Duration::from_secs(seconds));
        self.reports().insert(&key(tool, arguments), report.clone(), expires_at);
    }

    /// Removes all reports.
    pub(super) fn clear(&self) {
        self.reports().clear();
    }

    fn reports(&self) -> MutexGuard<'_, AnswerCache<ValidationReport>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ValidationReportCache {
    fn default() -> Self {
        Self { reports: Mutex::default(), started: Instant::now() }
    }
}

/// Arguments are JSON, which contains no line breaks outside of strings when it is serialised compactly.
fn key(tool: &str, arguments: &str) -> String {
    format!("{arguments}\n{tool}")
}
