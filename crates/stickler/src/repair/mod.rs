//! Derives the corrected call that was probably meant.
//!
//! Only invalid nodes are changed, by splicing the caller's text; everything else (large numbers, order,
//! whitespace) is kept as written. Each edit is recorded. The result is validated like any other call;
//! if it is invalid, there is no corrected call.
//!
//! Contract: a call with more problems than an explanation collects has no corrected call. All rounds
//! together read no more tokens than an explanation may take steps, except for the first two rounds.

mod edit;
mod moves;
mod names;
mod propose;
mod renamed_fields;
mod splice;
mod values;

use serde_json::value::RawValue;

pub(crate) use edit::in_words;
pub use edit::{Edit, EditKind};

use crate::arguments::{ComparisonBudgets, Explanation, McpValidator, ValidationError, Verdict};
use crate::discovery::CachedSchema;
use crate::tape::{Lookup, Node, TapeBuffer};

/// Maximum number of rounds. One mistake can hide another (a misspelt field with a stringified value),
/// but rarely many.
const MAX_ROUNDS: usize = 10;

/// Rounds that are allowed for a call of any size.
const MIN_ROUNDS: usize = 2;

/// Valid arguments and the edits that led to them.
pub(crate) struct Repaired {
    pub(crate) arguments: Box<RawValue>,
    pub(crate) edits: Vec<Edit>,
}

/// The state of a call in one round of its repair.
struct Call<'c> {
    validator: &'c McpValidator,
    schema: &'c CachedSchema,
    root: Node<'c>,
    lookup: Lookup<'c>,
    comparisons: &'c ComparisonBudgets,
}

impl<'c> Call<'c> {
    fn new(
        validator: &'c McpValidator,
        schema: &'c CachedSchema,
        root: Node<'c>,
        comparisons: &'c ComparisonBudgets,
    ) -> Self {
        Self { validator, schema, root, lookup: Lookup::new(root), comparisons }
    }
}

/// Returns the corrected arguments, or `None` if the call cannot be corrected. Problems inside renamed
/// fields, which only the corrected names reveal, are added to `hidden`.
pub(crate) fn repair(
    validator: &McpValidator,
    schema: &CachedSchema,
    arguments: Node<'_>,
    explanation: &Explanation,
    comparisons: &ComparisonBudgets,
    hidden: &mut Vec<ValidationError>,
) -> Option<Repaired> {
    let limits = &validator.config().limits;
    let mut edits = Vec::new();
    let first = Call::new(validator, schema, arguments, comparisons);
    let mut proposal = propose::proposal(&first, explanation)?;
    let mut buffer = TapeBuffer::new();
    let mut tokens_read = 0;
    for round in 1..=MAX_ROUNDS {
        edits.append(&mut proposal.edits);
        let tape = buffer.read(proposal.text.as_bytes(), limits.message_depth).ok()?;
        let root = tape.root();
        tokens_read += root.token_count();
        // A corrected call must not contain duplicate keys or numbers out of range either.
        let defect = tape.duplicate_keys().next().or_else(|| tape.oversized_numbers().next());
        if defect.is_none() && validator.evaluate_corrected(schema, root) == Verdict::Valid {
            if validator.config().mask_values {
                edits.iter_mut().for_each(Edit::mask);
            }
            let arguments = RawValue::from_string(proposal.text).ok()?;
            return Some(Repaired { arguments, edits });
        }
        if round >= MIN_ROUNDS && tokens_read > limits.explain_steps as usize {
            return None;
        }
        let explanation = validator.explain(schema, root, comparisons);
        if round == 1 {
            hidden.extend(renamed_fields::problems_inside(&edits, explanation.shown()));
        }
        proposal =
            propose::proposal(&Call::new(validator, schema, root, comparisons), &explanation)?;
    }
    None
}
