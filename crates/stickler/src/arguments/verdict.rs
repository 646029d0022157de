//! Decides whether arguments are valid. This is the fast path that every call takes; it builds no
//! explanation.

use serde_json::Value;

use super::closed;
use crate::config::{Limits, UnknownFields};
use crate::discovery::CachedSchema;
use crate::schema::{Answer, CompiledSchema};
use crate::tape::{Kind, Node, StepBudget, TapeBuffer};

/// Whether arguments are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
    /// The decision exceeded its step limit.
    GaveUp,
}

/// Evaluates arguments against a tool's schema within the step limits.
pub(crate) fn evaluate(
    schema: &CompiledSchema,
    arguments: Node<'_>,
    unknown_fields: UnknownFields,
    limits: &Limits,
) -> Verdict {
    // Arguments must be an object even if the schema does not require it.
    if arguments.kind() != Kind::Object {
        return Verdict::Invalid;
    }
    match schema.check(arguments, limits.verdict_steps) {
        Answer::Invalid => return Verdict::Invalid,
        Answer::GaveUp => return Verdict::GaveUp,
        Answer::Valid => {}
    }
    if unknown_fields == UnknownFields::FollowSchema {
        return Verdict::Valid;
    }
    let budget = StepBudget::new(limits.verdict_steps);
    let all_known = closed::all_fields_known(schema, arguments, &budget);
    match (budget.is_spent(), all_known) {
        (true, _) => Verdict::GaveUp,
        (false, true) => Verdict::Valid,
        (false, false) => Verdict::Invalid,
    }
}

impl CachedSchema {
    /// Returns whether these arguments are valid, with unknown fields rejected.
    pub fn accepts(&self, arguments: &Value) -> bool {
        let text = arguments.to_string();
        let mut buffer = TapeBuffer::new();
        let limits = Limits::default();
        buffer.read(text.as_bytes(), limits.message_depth).is_ok_and(|tape| {
            evaluate(&self.compiled, tape.root(), UnknownFields::Reject, &limits) == Verdict::Valid
        })
    }
}
