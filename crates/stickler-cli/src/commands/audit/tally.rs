//! Counting.

use std::collections::BTreeMap;

use stickler::{MessageRule, Severity};

use crate::commands::counts::Counts;

/// What was seen in one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Lines that were judged, those without anything in them left out.
    pub(super) messages: usize,
    /// Records of something other than a message.
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
