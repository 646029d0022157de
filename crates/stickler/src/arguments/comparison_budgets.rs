//! Budgets for the comparisons and value listings that explaining and repairing one call can cause.
//!
//! Contract: the explanation and all repair rounds of a call share one [`ComparisonBudgets`], so that
//! the total cost is bounded for every combination of call and schema.

use std::cell::Cell;

use crate::suggest::ComparisonBudget;

/// Maximum number of allowed values that the errors of one call list, and that its values are tried
/// against.
const MAX_VALUES_PER_CALL: usize = 64 * 256;

/// The remaining budgets of one call.
#[derive(Debug)]
pub(crate) struct ComparisonBudgets {
    /// For comparing unknown fields with the names in the schema.
    pub(crate) names: ComparisonBudget,
    /// For comparing values with the allowed ones.
    pub(crate) values: ComparisonBudget,
    /// For comparing fields with the names of each branch of a choice.
    pub(crate) branches: ComparisonBudget,
    values_listed: Cell<usize>,
    values_tried: Cell<usize>,
}

impl ComparisonBudgets {
    /// Creates the budgets; `steps` is the limit on the steps of an explanation.
    pub(crate) fn new(steps: u32) -> Self {
        let budget = || ComparisonBudget::new(steps);
        Self {
            names: budget(),
            values: budget(),
            branches: budget(),
            values_listed: Cell::new(0),
            values_tried: Cell::new(0),
        }
    }

    /// Returns how many of `count` allowed values an error lists: all of them, or `few` when the budget
    /// is spent.
    pub(super) fn list_values(&self, count: usize, few: usize) -> usize {
        if take(&self.values_listed, count) { count } else { few.min(count) }
    }

    /// Returns whether a value may be compared with `count` allowed values of other types.
    pub(crate) fn take_value_comparisons(&self, count: usize) -> bool {
        take(&self.values_tried, count)
    }
}

fn take(spent: &Cell<usize>, count: usize) -> bool {
    let total = spent.get().saturating_add(count);
    let fits = total <= MAX_VALUES_PER_CALL;
    if fits {
        spent.set(total);
    }
    fits
}
