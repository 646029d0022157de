//! Requests of either side: inspection, and the commit that registers a forwarded request as pending.

use std::sync::Arc;

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::call::{CallOutcome, DeferredFindings, RejectedCall};
use super::request_checks::{MAX_STORED_BYTES, RequestShape};
use super::{Case, Checked, Connection, Incoming, ListUse, MustWait, WaitFor};
use crate::connection::capabilities::Capabilities;
use crate::connection::pending::PendingRequest;
use crate::envelope::{Envelope, Header, RequestId, is_abbreviated};
use crate::headers::CAPABILITIES_KEY;
use crate::protocol::Revision;
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Verdict};

/// What the inspection of a request found. Nothing has changed yet.
#[derive(Debug)]
struct Inspection<'m> {
    case: Case,
    outcome: Outcome<'m>,
    /// The id and revision to register, if the request is forwarded.
    starts: Option<(RequestId, Option<Revision>)>,
    declares_unknown_revision: bool,
    skips_handshake: bool,
}

#[derive(Debug)]
enum Outcome<'m> {
    /// Forward the message, with its arguments repaired or as it is.
    Forward(Option<Vec<u8>>),
    /// Answer with the finding that rejects the message.
    Reject(Responder<'m>),
    /// Answer with help for the caller.
    RejectCall(RejectedCall<'m>, Responder<'m>),
}

impl Connection {
    pub(super) fn request(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Checked {
        let id = envelope.request_id();
        let answers = self.pending.of(incoming.side.other());
        // A response without result or error still belongs to a pending request.
        if envelope.lacks_method_and_outcome()
            && id.as_ref().is_some_and(|id| answers.is_pending(id))
        {
            return Ok(self.response(incoming, envelope));
        }
        // A response that also has a method is treated as a request, and may have been meant as the answer.
        let is_both =
            envelope.method.is_some() && envelope.faults.iter().any(|one| one.path.is_empty());
        if incoming.side == Side::Server && is_both {
            let id = id.clone();
            self.note_unmatched(id.as_ref(), incoming.now);
        }
        match self.inspect_request(incoming, envelope, id) {
            Ok(inspection) => Ok(self.commit_request(inspection, incoming, envelope)),
            Err(wait) => Err(Box::new(MustWait::of(incoming.node, envelope, wait))),
        }
    }

    /// Inspects a request, or returns what has to be waited for.
    fn inspect_request<'m>(
        &self,
        incoming: Incoming<'m>,
        envelope: &Envelope<'m>,
        id: Option<RequestId>,
    ) -> Result<Inspection<'m>, WaitFor> {
        let Incoming { side, .. } = incoming;
        let mut case = self.case(side, Header::of(envelope));
        case.record_envelope_faults(envelope);
        let is_duplicate = id.as_ref().is_some_and(|id| self.pending.of(side).is_pending(id));
        if let Some(id) = &id {
            self.check_id(&mut case, incoming, envelope, id, is_duplicate);
        }
        let method = envelope.method.as_deref().unwrap_or_default();
        let revision = self.lifecycle.revision_of_request(method, envelope.params);
        // A duplicate id must not be answered, because the response would end the other request.
        let answerable = envelope.answerable_id().filter(|_| id.is_some() && !is_duplicate);
        let responder = Responder { id: answerable, revision };
        // A duplicate that a lenient policy forwards must not replace the pending request.
        let starts = id.filter(|_| !is_duplicate && !self.pending.of(side).is_full());
        let mut inspection = Inspection {
            outcome: Outcome::Reject(responder),
            starts: starts.map(|id| (id, revision)),
            declares_unknown_revision: false,
            skips_handshake: false,
            case,
        };
        if inspection.case.is_rejected() {
            return Ok(inspection);
        }
        let case = &mut inspection.case;
        let mut shape = RequestShape::default();
        if envelope.method.is_some() {
            inspection.declares_unknown_revision =
                self.check_declared_revision(case, method, envelope.params);
            shape = self.check_request(case, incoming, envelope, revision);
            inspection.skips_handshake = self.check_lifecycle(case, side, method, revision);
        }
        let deferred =
            DeferredFindings { shape: shape.arguments, duplicate_keys: shape.duplicate_keys };
        let outcome = if shape.is_valid && method == "tools/call" && side == Side::Client {
            self.inspect_call(case, incoming, envelope, deferred)
        } else {
            deferred.record(case);
            CallOutcome::Pass
        };
        inspection.outcome = match outcome {
            CallOutcome::MustWait(wait) => return Err(wait),
            CallOutcome::Reject(call) => Outcome::RejectCall(call, responder),
            _ if case.is_rejected() => Outcome::Reject(responder),
            CallOutcome::Repaired(bytes) => Outcome::Forward(Some(bytes)),
            CallOutcome::Pass => Outcome::Forward(None),
        };
        if self.depends_on_list(&inspection, incoming) {
            return Err(WaitFor::NewerList);
        }
        Ok(inspection)
    }

    /// Returns whether a newer tool list could change the decision on a call, and is available.
    fn depends_on_list(&self, inspection: &Inspection<'_>, incoming: Incoming<'_>) -> bool {
        let findings = inspection.case.findings();
        if findings.is_empty() || incoming.attempt.list != ListUse::Refreshable {
            return false;
        }
        let has = |rule| findings.iter().any(|finding| finding.rule == rule);
        let is_unknown = has(MessageRule::UnknownTool);
        match &inspection.outcome {
            Outcome::Reject(_) | Outcome::RejectCall(..) => {
                (is_unknown || has(MessageRule::InvalidArguments))
                    && (self.is_list_old(incoming.now)
                        || is_unknown && self.can_fetch_tools(incoming.now))
            }
            Outcome::Forward(None) => {
                is_unknown && inspection.starts.is_some() && self.is_list_old(incoming.now)
            }
            Outcome::Forward(Some(_)) => false,
        }
    }

    /// Applies what the inspection found and builds the response to a rejected request.
    fn commit_request(
        &mut self,
        inspection: Inspection<'_>,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Verdict {
        let Inspection { case, outcome, starts, .. } = inspection;
        if inspection.declares_unknown_revision {
            self.lifecycle.unknown_revision_reported();
        }
        if inspection.skips_handshake {
            self.lifecycle.skip_handshake();
        }
        let repaired = match outcome {
            Outcome::Forward(repaired) => repaired,
            Outcome::RejectCall(call, responder) => {
                let reply = self.reject_call(&case, &call, responder);
                return case.decide(Decision::Answer(Box::new(reply)));
            }
            Outcome::Reject(responder) => return case.answer_or_forward(responder),
        };
        if let Some((id, revision)) = starts {
            self.start_request(incoming, envelope, &case.header, id, revision);
        }
        case.decide(repaired.map_or(Decision::Forward, Decision::Rewrite))
    }

    fn start_request(
        &mut self,
        Incoming { side, now, .. }: Incoming<'_>,
        envelope: &Envelope<'_>,
        header: &Header,
        id: RequestId,
        revision: Option<Revision>,
    ) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let list_changes = match method {
            "tools/list" => self.validator.cache().changes(&self.server),
            _ => 0,
        };
        let params = envelope.params;
        let member = |name: &str| params.and_then(|params| params.get(name));
        let cursor = member("cursor");
        let is_stored = |text: &str| text.len() <= MAX_STORED_BYTES;
        let name = || member("name").and_then(Node::as_str).filter(|name| is_stored(name));
        let capabilities = member("_meta").and_then(|meta| meta.get(CAPABILITIES_KEY));
        self.pending.of_mut(side).start(
            id,
            PendingRequest {
                id: envelope.id.map(Node::raw).unwrap_or_default().into(),
                method: header.method.clone().unwrap_or_default(),
                revision,
                tool: match &header.tool {
                    Some(tool) if !is_abbreviated(tool) => Some(Arc::clone(tool)),
                    _ if method == "tools/call" => name().map(Into::into),
                    _ => None,
                },
                requests_task: member("task").is_some(),
                cursor: cursor
                    .and_then(Node::as_str)
                    .filter(|text| is_stored(text))
                    .map(Into::into),
                has_cursor: cursor.is_some(),
                progress_token: header.progress_token.clone().filter(|token| match token {
                    RequestId::Integer(_) => true,
                    RequestId::Large(text) | RequestId::String(text) => is_stored(text),
                }),
                capabilities: capabilities.map(Capabilities::read),
                sent_at: now,
                answer_by: None,
                list_changes,
            },
        );
        self.lifecycle.declare(method, params);
        if method == "initialize" && side == Side::Client {
            self.lifecycle.handshake_started(params);
        }
    }
}
