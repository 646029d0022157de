//! What the gatekeeper does with messages beyond judging them, each by itself or as a part of a batch.

use std::borrow::Cow;
use std::time::Duration;

use stickler::tape::{Node, TapeBuffer};

use super::own::{is_own_id, mentions_own_id};
use super::{Gatekeeper, Outbox};
use crate::envelope::RequestId;
use crate::middleware::sum_up;
use crate::side::Side;
use crate::verdict::{Decision, Part, Verdict};

/// How deep a batch may nest that was judged already.
const DEEPEST: usize = 1 << 16;

impl Gatekeeper {
    /// A verdict with other decisions in the place of some, for the message or for those of a batch.
    pub(super) fn amended(
        &mut self,
        mut verdict: Verdict,
        message: &[u8],
        mut amend: impl FnMut(&mut Self, &Part, &[u8]) -> Option<Decision>,
    ) -> Verdict {
        if verdict.parts.is_empty() {
            let Verdict { decision, subject, .. } = verdict;
            let part = Part { decision, subject };
            let amended = amend(self, &part, message);
            verdict.decision = amended.unwrap_or(part.decision);
            verdict.subject = part.subject;
            return verdict;
        }
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(message, DEEPEST) else { return verdict };
        let mut is_amended = false;
        for (node, part) in tape.root().elements().zip(&mut verdict.parts) {
            if let Some(decision) = amend(self, part, node.raw().as_bytes()) {
                part.decision = decision;
                is_amended = true;
            }
        }
        if is_amended {
            verdict.decision = sum_up(tape.root(), &verdict.parts);
        }
        verdict
    }

    /// The answer of our own to a request of the client, where it is for us or the server can be spared.
    pub(super) fn own_answer(
        &mut self,
        part: &Part,
        message: &[u8],
        now: Duration,
    ) -> Option<Vec<u8>> {
        let id = part.subject.id.as_ref();
        // What was asked under this id before is over, and the next answer is not to it.
        if let Some(id) = id {
            self.answers.take_question(id);
        }
        let answer = if self.is_for_us(part) {
            self.serve(message, now)?
        } else if self.is_for_deep_checks(part) {
            self.spare_the_server(part, message, now)?
        } else {
            return None;
        };
        if let Some(id) = id {
            self.middleware.settle(Side::Client, id);
        }
        Some(answer)
    }

    /// What the server has said, with what we add to it; `None` where that is nothing.
    pub(super) fn addition(
        &mut self,
        part: &Part,
        message: &[u8],
        now: Duration,
        out: &mut Outbox<'_>,
    ) -> Option<Decision> {
        if part.decision != Decision::Forward {
            return None;
        }
        if is_ours(part, message) {
            // In a batch it was not seen before. What came twice, or was not asked for, is nobody's.
            self.hear_own(message, now, out);
            return Some(Decision::Drop);
        }
        let method = part.subject.method.as_deref()?;
        match method {
            "tools/list" => {
                self.register_service();
                self.answers.forget();
                let request = self.request_for_changes();
                out.to_server.extend(request.map(Cow::Owned));
            }
            "tools/call" => self.keep_answer(part, message, now),
            "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated" => self.answers.forget(),
            _ => {}
        }
        self.announce(method, message).map(Decision::Rewrite)
    }
}

/// Whether a message of the server's is about a question of our own, which no client knows of.
fn is_ours(part: &Part, message: &[u8]) -> bool {
    match (part.subject.method.as_deref(), &part.subject.id) {
        // The answer to a request that no client has in flight.
        (None, Some(RequestId::String(id))) => is_own_id(id),
        (Some("notifications/cancelled" | "notifications/progress"), _) => {
            if !mentions_own_id(message) {
                return false;
            }
            let mut buffer = TapeBuffer::new();
            let Ok(tape) = buffer.read(message, DEEPEST) else { return false };
            let params = tape.root().get("params");
            let named = params
                .and_then(|params| params.get("requestId").or_else(|| params.get("progressToken")));
            named.and_then(Node::as_str).is_some_and(|id| is_own_id(&id))
        }
        _ => false,
    }
}
