//! Batches, which only revision 2025-03-26 has.

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::case::Case;
use super::odd::parse_id;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, Glimpse};
use crate::reply::Reply;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Part, Verdict};

impl ValidationMiddleware {
    /// Every message of a batch has its own verdict: what may go on does, the rest is answered.
    pub(super) fn batch(&mut self, incoming: Incoming<'_>) -> Verdict {
        let mut case = self.case(incoming.side);
        let revision = self.session.revision();
        let most = self.limits().requests_in_flight;
        let mut finding = |message: &str, received: &str| {
            let finding = Finding::new(MessageRule::BadEnvelope, message);
            case.tell(finding.with("one message", received));
        };
        if incoming.node.is_empty() {
            finding("an empty array is no message", "an empty array");
        } else if incoming.node.len() > most {
            finding("the batch has more messages than may be in flight", "too many messages");
        } else if revision.is_some_and(|revision| !revision.has_batches()) && self.is_settled() {
            finding("only revision 2025-03-26 has batches", "an array");
        }
        if case.is_refused() && (incoming.side == Side::Client || incoming.node.len() > most) {
            let Glimpse { answers, .. } = Glimpse::of(incoming.node.raw().as_bytes());
            return self.unread_batch(case, &answers);
        }
        let mut parts = Vec::with_capacity(incoming.node.len());
        for (index, node) in incoming.node.elements().enumerate() {
            let envelope = Envelope::identify(node);
            if envelope.method.as_deref() == Some("initialize") {
                let message = "`initialize` is not part of a batch";
                let finding = Finding::new(MessageRule::Lifecycle, message);
                case.tell(finding.at(format!("/{index}/method")));
            }
            let verdict = self.single(Incoming { node, ..incoming }, &envelope);
            for mut finding in verdict.findings {
                finding.path = format!("/{index}{}", finding.path);
                case.remark(finding);
            }
            case.edits.extend(verdict.edits);
            parts.push(Part { decision: verdict.decision, subject: verdict.subject });
        }
        let decision = sum_up(incoming.node, &parts);
        Verdict { parts, ..case.decide(decision) }
    }

    /// A batch that nests too deep: whoever waits for one of its messages is told.
    pub(super) fn too_deep_batch(&mut self, side: Side, node: Node<'_>) -> Verdict {
        if node.len() > self.limits().requests_in_flight {
            return self.too_deep(side, node.raw().as_bytes());
        }
        let mut judge = |element: Node<'_>| {
            let Verdict { decision, subject, .. } = self.too_deep(side, element.raw().as_bytes());
            Part { decision, subject }
        };
        let parts: Vec<Part> = node.elements().map(&mut judge).collect();
        self.case_of_depth(side).decide(sum_up(node, &parts))
    }

    /// A batch that was refused as a whole: each response in it is replaced by an error, so that
    /// its request is answered all the same.
    pub(super) fn unread_batch(&mut self, case: Case, answers: &[String]) -> Verdict {
        let requester = case.side().other();
        let mut replaced = Vec::new();
        for id in answers.iter().filter_map(|id| parse_id(id)) {
            let flight = self.session.flights(requester).give_up(&id);
            if let (Some(flight), Some(refusal)) = (flight, case.refusal()) {
                let reply = Reply { id: Some(&flight.id), revision: flight.revision };
                replaced.push(reply.replacement(refusal));
            }
        }
        let mut verdict = match case.side() {
            Side::Client => {
                case.answer_or_forward(Reply { id: None, revision: self.session.revision() })
            }
            Side::Server => case.drop_or_forward(),
        };
        if !replaced.is_empty() {
            let replaced: Vec<&[u8]> = replaced.iter().map(Vec::as_slice).collect();
            let forward = array(&replaced);
            verdict.decision = match verdict.decision {
                Decision::Answer(answer) => Decision::Split { forward, answer },
                _ => Decision::Rewrite(forward),
            };
        }
        verdict
    }

    /// Whether the peers have agreed on a revision, or somebody else has.
    fn is_settled(&self) -> bool {
        self.session.is_fixed() || self.session.has_agreed()
    }
}

/// What the decisions about its messages come to for a batch.
pub(crate) fn sum_up(batch: Node<'_>, parts: &[Part]) -> Decision {
    if parts.iter().all(|part| part.decision == Decision::Forward) {
        return Decision::Forward;
    }
    let (mut forward, mut answer) = (Vec::new(), Vec::new());
    for (node, part) in batch.elements().zip(parts) {
        match &part.decision {
            Decision::Forward => forward.push(node.raw().as_bytes()),
            Decision::Rewrite(bytes) => forward.push(bytes),
            Decision::Answer(bytes) => answer.push(bytes.as_slice()),
            Decision::Split { forward: onward, answer: back } => {
                forward.push(onward);
                answer.push(back);
            }
            Decision::Drop => {}
        }
    }
    match (forward.is_empty(), answer.is_empty()) {
        (true, true) => Decision::Drop,
        (true, false) => Decision::Answer(array(&answer)),
        (false, true) => Decision::Rewrite(array(&forward)),
        (false, false) => Decision::Split { forward: array(&forward), answer: array(&answer) },
    }
}

fn array(messages: &[&[u8]]) -> Vec<u8> {
    [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat()
}
