//! What JSON Schema cannot see: keys given twice, numbers that no reader can hold.
//!
//! Contract: the time is in proportion to the size of the arguments, however many there are.

use super::error::ValidationError;
use super::wording::{About, Wording};
use crate::config::ValidationConfig;
use crate::tape::{Lookup, Node, StepBudget};

/// Bytes of a path that are built for one step.
const BYTES_PER_STEP: usize = 16;

/// What is odd about arguments, as many as are shown, and whether looking for more took too long.
pub(super) fn find(arguments: Node<'_>, config: &ValidationConfig) -> (Vec<ValidationError>, bool) {
    let tape = arguments.tape();
    let mut twice = tape.duplicate_keys_in(arguments).peekable();
    let mut oversized =
        tape.oversized_numbers().filter(|one| is_inside(*one, arguments)).peekable();
    if twice.peek().is_none() && oversized.peek().is_none() {
        return (Vec::new(), false);
    }
    let wording = Wording::new(config.mask_values, About::Arguments);
    let places = Places::new(arguments, config.limits.explain_steps);
    let may_look = || !places.budget.is_spent();
    let twice =
        twice.take_while(|_| may_look()).filter_map(|key| Some(wording.repeated(&places.of(key)?)));
    let oversized = oversized.take_while(|_| may_look()).filter_map(|number| {
        let expected = "be a number within the range of a double";
        Some(wording.invalid(&places.of(number)?, String::new(), expected, Some(number)))
    });
    let errors = twice.chain(oversized).take(config.limits.errors).collect();
    (errors, places.budget.is_spent())
}

/// The places of odd values, as far as finding them may take.
struct Places<'a> {
    lookup: Lookup<'a>,
    budget: StepBudget,
}

impl<'a> Places<'a> {
    fn new(arguments: Node<'a>, steps: u32) -> Self {
        let budget = StepBudget::to_explain(arguments, steps);
        Self { lookup: Lookup::new(arguments), budget }
    }

    /// Where it is. What stands in a member that a later one of the same name replaces has no place:
    /// that the name is there twice is told.
    fn of(&self, node: Node<'a>) -> Option<String> {
        let place = self.lookup.pointer_to(node)?;
        self.budget.pays(place.len() / BYTES_PER_STEP + 1);
        self.lookup.pointer(&place).is_some().then_some(place)
    }
}

fn is_inside(node: Node<'_>, arguments: Node<'_>) -> bool {
    let (outer, inner) = (arguments.span(), node.span());
    outer.start <= inner.start && inner.end <= outer.end
}
