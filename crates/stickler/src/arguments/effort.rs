//! What explaining and repairing one call may take, beside the steps of looking at it.
//!
//! Contract: one effort is shared by the explanation and by all rounds of repair of a call, so that no
//! call and no schema makes the comparing of names and the listing of values expensive.

use std::cell::Cell;

use crate::suggest::Scoring;

/// Allowed values that the errors of one call list in all, and that its values are tried against.
const MOST_VALUES: usize = 64 * 256;

/// What may still be done for a call.
#[derive(Debug)]
pub(crate) struct Effort {
    /// Comparing unknown fields with the names that they may have meant.
    pub(crate) names: Scoring,
    /// Comparing values with those that are allowed.
    pub(crate) values: Scoring,
    /// Comparing fields with the names of each branch of a choice.
    pub(crate) branches: Scoring,
    /// Comparing unknown fields with the names that a repair could give them.
    pub(crate) renames: Scoring,
    values_listed: Cell<usize>,
    values_tried: Cell<usize>,
}

impl Effort {
    /// `steps` are those that explaining the call may take.
    pub(crate) fn new(steps: u32) -> Self {
        let scoring = || Scoring::new(steps);
        Self {
            names: scoring(),
            values: scoring(),
            branches: scoring(),
            renames: scoring(),
            values_listed: Cell::new(0),
            values_tried: Cell::new(0),
        }
    }

    /// How many of so many allowed values an error lists, which is all or `few`.
    pub(super) fn list_values(&self, count: usize, few: usize) -> usize {
        if take(&self.values_listed, count) { count } else { few.min(count) }
    }

    /// Whether a value may be tried against so many allowed ones in another spelling.
    pub(crate) fn may_try_values(&self, count: usize) -> bool {
        take(&self.values_tried, count)
    }
}

fn take(spent: &Cell<usize>, count: usize) -> bool {
    let total = spent.get().saturating_add(count);
    let fits = total <= MOST_VALUES;
    if fits {
        spent.set(total);
    }
    fits
}
