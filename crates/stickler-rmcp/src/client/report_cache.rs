//! Cache of validation reports that the server has allowed the client to reuse.
//!
//! Entries are keyed by tool and arguments and expire after the number of seconds that the server announced. The cache is
//! cleared when the tools change and when it is full.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stickler::tool_validation::ValidationReport;

/// Reports that are cached at the same time.
const MAX_CACHED_REPORTS: usize = 256;

/// Validation reports by tool and arguments.
#[derive(Debug, Default)]
pub(super) struct ValidationReportCache {
    entries: Mutex<HashMap<(String, String), (Instant, ValidationReport)>>,
}

impl ValidationReportCache {
    /// Returns the cached report, unless it has expired.
    pub(super) fn get(&self, tool: &str, arguments: &str) -> Option<ValidationReport> {
        let key = (tool.to_owned(), arguments.to_owned());
        let entries = self.entries();
        let (expires, report) = entries.get(&key)?;
        (Instant::now() < *expires).then(|| report.clone())
    }

    /// Caches a report for `seconds`.
    pub(super) fn insert(
        &self,
        tool: &str,
        arguments: String,
        seconds: u64,
        report: &ValidationReport,
    ) {
        let Some(expires) = Instant::now().checked_add(Duration::from_secs(seconds)) else {
            return;
        };
        let mut entries = self.entries();
        if entries.len() >= MAX_CACHED_REPORTS {
            entries.clear();
        }
        entries.insert((tool.to_owned(), arguments), (expires, report.clone()));
    }

    /// Removes all reports.
    pub(super) fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<(String, String), (Instant, ValidationReport)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
