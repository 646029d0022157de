//! Repair: the call as it was probably meant.
//!
//! Only failing nodes are touched, by splicing the caller's own text, so that everything else (big
//! numbers, order, spacing) stays as it was written. Each edit is recorded. The result is judged
//! like any call; if it does not pass, there is no corrected form.
//!
//! Contract: a call with more problems than an explanation notes has no corrected form, and the rounds
//! together look at no more tokens than explaining may take, two rounds aside.

mod edit;
mod names;
mod propose;
mod splice;
mod values;

use serde_json::value::RawValue;

pub use edit::{Edit, EditKind};

use crate::arguments::{Effort, Explanation, McpValidator, Verdict};
use crate::discovery::CachedSchema;
use crate::tape::{Lookup, Node, TapeBuffer};

/// One mistake can hide another (a misspelt field whose value is also a string too many), but not
/// many.
const MOST_ROUNDS: usize = 10;

/// Rounds that a call of any size has.
const ROUNDS_OF_LARGE: usize = 2;

/// Arguments that pass, and what it took.
#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) arguments: Box<RawValue>,
    pub(crate) edits: Vec<Edit>,
}

/// A call that is being repaired, as it is in one round.
struct Call<'c> {
    validator: &'c McpValidator,
    schema: &'c CachedSchema,
    root: Node<'c>,
    lookup: Lookup<'c>,
    effort: &'c Effort,
}

impl<'c> Call<'c> {
    fn new(
        validator: &'c McpValidator,
        schema: &'c CachedSchema,
        root: Node<'c>,
        effort: &'c Effort,
    ) -> Self {
        Self { validator, schema, root, lookup: Lookup::new(root), effort }
    }
}

pub(crate) fn repair(
    validator: &McpValidator,
    schema: &CachedSchema,
    arguments: Node<'_>,
    explanation: &Explanation,
    effort: &Effort,
) -> Option<Repaired> {
    let limits = &validator.config().limits;
    let mut edits = Vec::new();
    let first = Call::new(validator, schema, arguments, effort);
    let mut step = propose::step(&first, explanation)?;
    let mut buffer = TapeBuffer::new();
    let mut looked_at = 0;
    for round in 1..=MOST_ROUNDS {
        edits.append(&mut step.edits);
        let tape = buffer.read(step.text.as_bytes(), limits.message_depth).ok()?;
        let root = tape.root();
        looked_at += root.token_count();
        // What would be odd about a call is odd about a corrected one.
        let odd = tape.duplicate_keys().next().or_else(|| tape.oversized_numbers().next());
        if odd.is_none() && validator.judge_corrected(schema, root) == Verdict::Valid {
            if validator.config().mask_values {
                edits.iter_mut().for_each(Edit::mask);
            }
            let arguments = RawValue::from_string(step.text).ok()?;
            return Some(Repaired { arguments, edits });
        }
        if round >= ROUNDS_OF_LARGE && looked_at > limits.explain_steps as usize {
            return None;
        }
        let explanation = validator.explain(schema, root, effort);
        step = propose::step(&Call::new(validator, schema, root, effort), &explanation)?;
    }
    None
}
