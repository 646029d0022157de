//! Repair: the call as it was probably meant.
//!
//! Only failing nodes are touched, by splicing the caller's own text, so that everything else (big
//! numbers, order, spacing) stays as it was written. Each edit is recorded. The result is judged
//! like any call; if it does not pass, there is no corrected form.

mod edit;
mod names;
mod propose;
mod splice;
mod values;

use serde_json::value::RawValue;

pub use edit::{Edit, EditKind};

use crate::arguments::{Explanation, McpValidator, Verdict};
use crate::discovery::CachedSchema;
use crate::tape::{Node, TapeBuffer};

/// One mistake can hide another (a misspelt field whose value is also a string too many), but not
/// many.
const MOST_ROUNDS: usize = 10;

/// Arguments that pass, and what it took.
#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) arguments: Box<RawValue>,
    pub(crate) edits: Vec<Edit>,
}

pub(crate) fn repair(
    validator: &McpValidator,
    schema: &CachedSchema,
    arguments: Node<'_>,
    explanation: &Explanation,
) -> Option<Repaired> {
    let mut edits = Vec::new();
    let mut step = propose::step(validator, schema, arguments, explanation)?;
    let mut buffer = TapeBuffer::new();
    for _ in 0..MOST_ROUNDS {
        edits.append(&mut step.edits);
        let tape =
            buffer.read(step.text.as_bytes(), validator.config().limits.message_depth).ok()?;
        // What would be odd about a call is odd about a corrected one.
        let odd = tape.duplicate_keys().next().or_else(|| tape.oversized_numbers().next());
        if odd.is_none() && validator.judge(schema, tape.root()) == Verdict::Valid {
            if validator.config().mask_values {
                edits.iter_mut().for_each(Edit::mask);
            }
            let arguments = RawValue::from_string(step.text).ok()?;
            return Some(Repaired { arguments, edits });
        }
        let explanation = validator.explain(schema, tape.root());
        step = propose::step(validator, schema, tape.root(), &explanation)?;
    }
    None
}
