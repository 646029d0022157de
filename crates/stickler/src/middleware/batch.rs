//! Batches, which only revision 2025-03-26 has.

use super::case::Case;
use super::odd::parse_id;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, Glimpse};
use crate::render::Reply;
use crate::rules::MessageRule;
use crate::side::Side;
use crate::tape::Node;
use crate::verdict::{Decision, Finding, Verdict};

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
        let mut parts = Parts::default();
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
            parts.add(node, verdict.decision);
        }
        case.decide(parts.decision())
    }

    /// A batch that nests too deep: whoever waits for one of its messages is told.
    pub(super) fn too_deep_batch(&mut self, side: Side, node: Node<'_>) -> Verdict {
        if node.len() > self.limits().requests_in_flight {
            return self.too_deep(side, node.raw().as_bytes());
        }
        let mut parts = Parts::default();
        for element in node.elements() {
            parts.add(element, self.too_deep(side, element.raw().as_bytes()).decision);
        }
        self.case_of_depth(side).decide(parts.decision())
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

/// What is to become of the messages of a batch.
#[derive(Debug, Default)]
struct Parts {
    forward: Vec<Vec<u8>>,
    answer: Vec<Vec<u8>>,
    touched: usize,
}

impl Parts {
    fn add(&mut self, node: Node<'_>, decision: Decision) {
        self.touched += usize::from(decision != Decision::Forward);
        match decision {
            Decision::Forward => self.forward.push(node.raw().as_bytes().to_vec()),
            Decision::Rewrite(bytes) => self.forward.push(bytes),
            Decision::Answer(bytes) => self.answer.push(bytes),
            Decision::Split { forward, answer } => {
                self.forward.push(forward);
                self.answer.push(answer);
            }
            Decision::Drop => {}
        }
    }

    fn decision(self) -> Decision {
        if self.touched == 0 {
            return Decision::Forward;
        }
        match (self.forward.is_empty(), self.answer.is_empty()) {
            (true, true) => Decision::Drop,
            (true, false) => Decision::Answer(array(&self.answer)),
            (false, true) => Decision::Rewrite(array(&self.forward)),
            (false, false) => {
                Decision::Split { forward: array(&self.forward), answer: array(&self.answer) }
            }
        }
    }
}

fn array(messages: &[Vec<u8>]) -> Vec<u8> {
    [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat()
}
