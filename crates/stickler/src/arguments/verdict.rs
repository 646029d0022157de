//! Yes or no: the quick part, which every call goes through.

use serde_json::Value;

use super::closed;
use crate::config::{Limits, UnknownFields};
use crate::discovery::CachedSchema;
use crate::schema::{Answer, CompiledSchema};
use crate::tape::{Kind, Node, StepBudget, TapeBuffer};

/// What is to be said about arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
    /// Deciding took more steps than it may.
    GaveUp,
}

pub(crate) fn judge(
    schema: &CompiledSchema,
    arguments: Node<'_>,
    unknown_fields: UnknownFields,
    limits: &Limits,
) -> Verdict {
    // Arguments are an object even where a schema forgets to say so.
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
    let clean = closed::is_clean(schema, arguments, &budget);
    match (budget.is_spent(), clean) {
        (true, _) => Verdict::GaveUp,
        (false, true) => Verdict::Valid,
        (false, false) => Verdict::Invalid,
    }
}

impl CachedSchema {
    /// Whether these arguments would pass, unknown fields refused.
    pub fn accepts(&self, arguments: &Value) -> bool {
        let text = arguments.to_string();
        let mut buffer = TapeBuffer::new();
        let limits = Limits::default();
        buffer.read(text.as_bytes(), limits.message_depth).is_ok_and(|tape| {
            judge(&self.compiled, tape.root(), UnknownFields::Reject, &limits) == Verdict::Valid
        })
    }
}
