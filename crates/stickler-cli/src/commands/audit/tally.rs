//! Counters of one file.

use std::collections::BTreeMap;

use stickler::{MessageRule, Severity};

use crate::commands::counts::Counts;

/// Messages, skipped lines and findings of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Validated lines, without empty ones.
    pub(super) messages: usize,
    /// Records that are not messages.
    pub(super) skipped: usize,
    pub(super) rules: BTreeMap<MessageRule, Counts>,
}

impl Tally {
    pub(super) fn add(&mut self, rule: MessageRule, severity: Severity) {
        self.rules.entry(rule).or_default().add(severity);
    }

    pub(super) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.rules.values().for_each(|counts| all += *counts);
        all
    }
}
