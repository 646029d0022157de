//! Finds defects that JSON Schema cannot express: duplicate keys and numbers out of range.
//!
//! Contract: the time is linear in the size of the arguments, regardless of the number of defects.

use super::error::ValidationError;
use super::wording::{Subject, Wording};
use crate::config::ValidationConfig;
use crate::tape::{Lookup, Node, StepBudget};

/// Bytes of a path that can be built for one step of the budget.
const BYTES_PER_STEP: usize = 16;

/// Returns the defects of the arguments, up to the error limit, and whether the search was cut short.
pub(super) fn find(arguments: Node<'_>, config: &ValidationConfig) -> (Vec<ValidationError>, bool) {
    let tape = arguments.tape();
    let mut duplicates = tape.duplicate_keys_in(arguments).peekable();
    let mut oversized =
        tape.oversized_numbers().filter(|number| is_inside(*number, arguments)).peekable();
    if duplicates.peek().is_none() && oversized.peek().is_none() {
        return (Vec::new(), false);
    }
    let wording = Wording::new(config.mask_values, Subject::Arguments);
    let locations = Locations::new(arguments, config.limits.explain_steps);
    let has_budget = || !locations.budget.is_spent();
    let duplicates = duplicates
        .take_while(|_| has_budget())
        .filter_map(|key| Some(wording.repeated(&locations.of(key)?)));
    let oversized = oversized.take_while(|_| has_budget()).filter_map(|number| {
        let expected = "be a number within the range of a double";
        Some(wording.invalid(&locations.of(number)?, String::new(), expected, Some(number)))
    });
    let errors = duplicates.chain(oversized).take(config.limits.errors).collect();
    (errors, locations.budget.is_spent())
}

/// Resolves nodes to JSON Pointers within a budget.
struct Locations<'a> {
    lookup: Lookup<'a>,
    budget: StepBudget,
}

impl<'a> Locations<'a> {
    fn new(arguments: Node<'a>, steps: u32) -> Self {
        let budget = StepBudget::to_explain(arguments, steps);
        Self { lookup: Lookup::new(arguments), budget }
    }

    /// Returns the JSON Pointer of a node. A node inside a member that a later duplicate replaces has
    /// none; the duplicate key itself is reported.
    fn of(&self, node: Node<'a>) -> Option<String> {
        let location = self.lookup.pointer_to(node)?;
        self.budget.take_usize(location.len() / BYTES_PER_STEP + 1);
        self.lookup.pointer(&location).is_some().then_some(location)
    }
}

fn is_inside(node: Node<'_>, arguments: Node<'_>) -> bool {
    let (outer, inner) = (arguments.span(), node.span());
    outer.start <= inner.start && inner.end <= outer.end
}
