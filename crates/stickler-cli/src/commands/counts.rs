//! Counts findings by severity and formats the counts.

use std::ops::AddAssign;

use stickler::Severity;

/// Number of findings by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
}

impl Counts {
    pub(crate) fn total(self) -> usize {
        self.errors + self.warnings + self.notes
    }

    pub(crate) fn add(&mut self, severity: Severity) {
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

/// Formats the counts that are not zero: `2 errors, 1 note`.
pub(crate) fn words(counts: Counts) -> String {
    let Counts { errors, warnings, notes } = counts;
    let parts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, what)| count(number, what)).collect::<Vec<_>>().join(", ")
}

/// Formats a number with its noun: `1 file`, `2 files`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
