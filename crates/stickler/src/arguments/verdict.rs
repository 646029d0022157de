//! Decides whether arguments are valid. This is the fast path that every call takes; it builds no
//! explanation.

use serde_json::Value;

use super::closed;
use crate::config::{UnknownFields, ValidationConfig};
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

/// Evaluates arguments against a tool's schema within that many steps.
pub(crate) fn evaluate(
    schema: &CompiledSchema,
    arguments: Node<'_>,
    config: &ValidationConfig,
    steps: u32,
) -> Verdict {
    // Arguments must be an object even if the schema does not require it.
    if arguments.kind() != Kind::Object {
        return Verdict::Invalid;
    }
    match schema.check(arguments, steps) {
        Answer::Invalid => return Verdict::Invalid,
        Answer::GaveUp => return Verdict::GaveUp,
        Answer::Valid => {}
    }
    if config.unknown_fields == UnknownFields::FollowSchema {
        return Verdict::Valid;
    }
    let budget = StepBudget::new(steps);
    let all_known = closed::all_fields_known(schema, arguments, config, &budget);
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
        let config = ValidationConfig::default();
        let steps = config.limits.verdict_steps;
        buffer.read(text.as_bytes(), config.limits.message_depth).is_ok_and(|tape| {
            evaluate(&self.compiled, tape.root(), &config, steps) == Verdict::Valid
        })
    }
}
