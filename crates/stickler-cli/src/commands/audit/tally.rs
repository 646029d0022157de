//! Counting.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use stickler::{MessageRule, Severity};

/// Findings by how bad they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
}

impl Counts {
    pub(super) fn total(self) -> usize {
        self.errors + self.warnings + self.notes
    }

    fn add(&mut self, severity: Severity) {
        *match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        } += 1;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
    }
}

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
