//! Batches, which only revision 2025-03-26 allows.

use std::sync::Arc;

use stickler::rules::{MessageRule, json_rpc};
use stickler::tape::Node;

use super::malformed::parse_id;
use super::{Attempt, Case, Connection, Incoming, ListUse, Prepared};

use crate::envelope::{Envelope, Header, PartialHeader};
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Part, Reply, Verdict};

impl Connection {
    /// Checks each message of a batch separately: valid ones are forwarded, the others are answered.
    pub(super) fn batch(&mut self, incoming: Incoming<'_>) -> Verdict {
        let mut case = self.case(incoming.side, Header::of_batch(Vec::new()));
        let revision = self.lifecycle.revision();
        let limit = self.limits().requests_in_flight;
        let mut finding = |message: &str, received: &str| {
            let finding = Finding::new(MessageRule::BadEnvelope, message);
            case.record(finding.with("one message", received));
        };
        if incoming.node.is_empty() {
            finding("an empty array is not a message", "an empty array");
        } else if incoming.node.len() > limit {
            finding(
                "the batch has more messages than the limit of pending requests",
                "too many messages",
            );
        } else if revision.is_some_and(|revision| !revision.has_batches())
            && self.is_revision_settled()
        {
            finding("only revision 2025-03-26 has batches", "an array");
        }
        if case.is_rejected() && (incoming.side == Side::Client || incoming.node.len() > limit) {
            let PartialHeader { answers, .. } = PartialHeader::of(incoming.node.raw().as_bytes());
            return self.unparsed_batch(case, &answers);
        }
        let mut parts = Vec::with_capacity(incoming.node.len());
        for (index, node) in incoming.node.elements().enumerate() {
            let envelope = Envelope::identify(node);
            if envelope.method.as_deref() == Some("initialize") {
                let message = "`initialize` must not be part of a batch";
                let finding = Finding::new(MessageRule::Lifecycle, message);
                case.record(finding.at(format!("/{index}/method")));
            }
            // A batch is inspected and committed message by message, so it is not held here.
            let attempt =
                Attempt { list: ListUse::AsIs, prepared: Prepared::Inline, ..incoming.attempt };
            let part = Incoming { node, attempt, ..incoming };
            let Ok(verdict) = self.single(part, &envelope) else { continue };
            for mut finding in verdict.findings {
                finding.path = format!("/{index}{}", finding.path);
                case.note(finding);
            }
            case.edits.extend(verdict.edits);
            case.add_would_reject(verdict.would_reject);
            parts.push(Part { decision: verdict.decision, header: verdict.header });
        }
        let decision = combine_decisions(incoming.node, &parts);
        Verdict { parts, ..case.decide(decision) }
    }

    /// Answers or replaces each message of a batch that exceeds the nesting limit.
    pub(super) fn too_deep_batch(&mut self, side: Side, node: Node<'_>) -> Verdict {
        if node.len() > self.limits().requests_in_flight {
            return self.too_deep(side, node.raw().as_bytes());
        }
        let mut check = |element: Node<'_>| {
            let Verdict { decision, header, .. } = self.too_deep(side, element.raw().as_bytes());
            Part { decision, header }
        };
        let parts: Vec<Part> = node.elements().map(&mut check).collect();
        let decision = combine_decisions(node, &parts);
        Verdict {
            header: Arc::new(forwarded_header(&parts)),
            ..self.too_deep_case(side).decide(decision)
        }
    }

    /// Rejects a whole batch. Each response in it is replaced by an error, so that its request is
    /// still answered.
    pub(super) fn unparsed_batch(&mut self, case: Case, answers: &[String]) -> Verdict {
        let requester = case.side().other();
        let (mut replaced, mut headers) = (Vec::new(), Vec::new());
        for id in answers.iter().filter_map(|id| parse_id(id)) {
            let pending = self.pending.of_mut(requester).abandon(&id);
            let Some(pending) = pending else { continue };
            let code = case.is_rejected().then_some(json_rpc::INTERNAL_ERROR);
            headers.push(Header::response(Some(id), code));
            if let Some(rejection) = case.rejection() {
                let responder = Responder { id: Some(&pending.id), revision: pending.revision };
                replaced.push(responder.replacement(rejection));
            }
        }
        let mut verdict = match case.side() {
            Side::Client => {
                case.answer_or_forward(Responder { id: None, revision: self.lifecycle.revision() })
            }
            Side::Server => case.drop_or_forward(),
        };
        verdict.header = Arc::new(Header::of_batch(headers));
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
}

/// Combines the decisions on the messages of a batch.
pub(in crate::connection) fn combine_decisions(batch: Node<'_>, parts: &[Part]) -> Decision {
    if parts.iter().all(|part| part.decision == Decision::Forward) {
        return Decision::Forward;
    }
    let (mut forward, mut answer, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    for (node, part) in batch.elements().zip(parts) {
        match &part.decision {
            Decision::Forward => forward.push(node.raw().as_bytes()),
            Decision::Rewrite(bytes) => forward.push(bytes),
            Decision::Answer(reply) => {
                answer.push(reply.bytes.as_slice());
                headers.push((*reply.header).clone());
            }
            Decision::Split { forward: forwarded, answer: reply } => {
                forward.push(forwarded);
                answer.push(reply.bytes.as_slice());
                headers.push((*reply.header).clone());
            }
            Decision::Drop => {}
        }
    }
    let reply = || Box::new(Reply::new(Header::of_batch(headers), array(&answer)));
    match (forward.is_empty(), answer.is_empty()) {
        (true, true) => Decision::Drop,
        (true, false) => Decision::Answer(reply()),
        (false, true) => Decision::Rewrite(array(&forward)),
        (false, false) => Decision::Split { forward: array(&forward), answer: reply() },
    }
}

/// Returns the header of the messages of a batch that are forwarded.
pub(in crate::connection) fn forwarded_header(parts: &[Part]) -> Header {
    let is_forwarded =
        |part: &&Part| !matches!(part.decision, Decision::Answer(_) | Decision::Drop);
    Header::of_batch(parts.iter().filter(is_forwarded).map(|part| (*part.header).clone()).collect())
}

fn array(messages: &[&[u8]]) -> Vec<u8> {
    [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat()
}
