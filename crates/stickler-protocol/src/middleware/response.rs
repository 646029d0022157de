//! Responses, from either side: paired with their requests, so that results are really checked.

use stickler::rules::{MessageRule, json_rpc};
use stickler::tape::{Kind, Node};

use super::case::Case;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, Shape};
use crate::protocol::{Era, MethodLookup, Revision};
use crate::reply::Reply;
use crate::session::{Flight, Landing, handshake_revision, needed_by};
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

impl ValidationMiddleware {
    pub(super) fn response(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Verdict {
        let mut case = self.case(incoming.side);
        case.tell_faults(envelope);
        for path in super::odd::repeated_keys(incoming.node) {
            case.tell(super::odd::repeated_key(path));
        }
        let flight = self.land(&mut case, incoming.side, envelope);
        match (&flight, envelope.shape, envelope.outcome) {
            (Some(flight), Shape::Result, Some(result)) => {
                self.check_result(&mut case, incoming, flight, result);
                if !case.is_refused() {
                    self.learn(&mut case, incoming, flight, result);
                }
            }
            (_, Shape::Error, Some(_)) => {
                let revision = flight.as_ref().map_or(self.session.revision(), |one| one.revision);
                self.check_error(&mut case, incoming, envelope, revision);
                match flight.as_ref().map(|flight| &*flight.method) {
                    Some("initialize") => self.session.handshake_failed(),
                    Some("server/discover") => self.session.undeclare(),
                    _ => {}
                }
            }
            _ => {}
        }
        let is_refused = case.is_refused();
        let mut verdict = replace_or_forward(case, flight.as_deref());
        if let Some(flight) = flight {
            if is_refused && &*flight.method == "initialize" {
                self.session.handshake_failed();
            }
            verdict.subject.method = Some(flight.method.into());
            verdict.subject.tool = flight.tool.map(Into::into);
        }
        verdict
    }

    /// A response of which no more than the id could be seen.
    pub(super) fn unread_response(&mut self, case: Case, id: Option<&str>) -> Verdict {
        let id = id.and_then(super::odd::parse_id);
        let requester = case.side().other();
        // Our own words are its answer: what may still come is none.
        let flight = id.and_then(|id| self.session.flights(requester).give_up(&id));
        let Some(flight) = flight else { return case.drop_or_forward() };
        if &*flight.method == "initialize" {
            self.session.handshake_failed();
        }
        let mut verdict = replace_or_forward(case, Some(&flight));
        verdict.subject.method = Some(flight.method.into());
        verdict
    }

    /// The request that a response answers.
    fn land(
        &mut self,
        case: &mut Case,
        side: Side,
        envelope: &Envelope<'_>,
    ) -> Option<Box<Flight>> {
        let id = envelope.request_id()?;
        let raw = || envelope.id.map(Node::raw).map(super::shape::quoted).unwrap_or_default();
        let message = match self.session.flights(side.other()).land(&id) {
            Landing::Answered(flight) => {
                case.subject.id = Some(id);
                return Some(flight);
            }
            // Both were under way at the same time: that is nobody's fault.
            Landing::Cancelled => return None,
            Landing::GivenUp => {
                let message = format!("the request with the id {} was given up", raw());
                case.refuse(Finding::new(MessageRule::UnpairedResponse, message).at("/id"));
                return None;
            }
            Landing::Repeated => {
                format!("the request with the id {} has been answered already", raw())
            }
            Landing::Unasked => format!("no request with the id {} is in flight", raw()),
        };
        let finding = Finding::new(MessageRule::UnpairedResponse, message).at("/id");
        case.tell(finding.with("the id of a request in flight", raw()));
        case.subject.id = Some(id);
        None
    }

    fn check_result(
        &self,
        case: &mut Case,
        incoming: Incoming<'_>,
        flight: &Flight,
        result: Node<'_>,
    ) {
        let revision = match &*flight.method {
            // The reply decides which revision the handshake was about.
            "initialize" if !self.session.is_fixed() => {
                Some(handshake_revision(result.get("protocolVersion")))
            }
            _ => flight.revision,
        };
        if &*flight.method == "tools/call" {
            self.check_structured(case, incoming.now, flight, result);
        }
        let Some(revision) = revision else { return };
        let validator = self.protocol.get(revision);
        let MethodLookup::Known(method) = validator.method(incoming.side.other(), &flight.method)
        else {
            // Nothing is known of it but that results are objects.
            if result.kind() != Kind::Object {
                let finding = Finding::new(MessageRule::BadResult, "`result` must be an object");
                case.tell(finding.at("/result").with("an object", result.type_name()));
            }
            return;
        };
        let Some(definition) = method.result_for(result, flight.wants_task) else { return };
        // An extension's kind of result is an object, and more is not known of it.
        let definition = if is_extension(result, revision) { "Result" } else { definition };
        let errors = self.misshapen(revision, definition, result, "/result");
        case.tell_all(MessageRule::BadResult, "/result", errors);
        check_input_requests(case, flight, revision, result, self.limits().errors);
    }

    fn check_error(
        &self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        revision: Option<Revision>,
    ) {
        let Some(revision) = revision else { return };
        let code = envelope.outcome.and_then(|error| error.get("code")).map(Node::raw);
        let code = code.and_then(|code| code.parse::<i32>().ok());
        let definition = error_definition(code, revision);
        let has_null_id = envelope.id.is_some_and(|id| id.kind() == Kind::Null);
        for error in self.misshapen(revision, definition, incoming.node, "") {
            let in_error = error.path.starts_with("/error") || error.path.is_empty();
            match error.path.as_str() {
                // What JSON-RPC itself prescribes where the id could not be read. From 2025-11-25
                // on the id is left out instead.
                "/id" if has_null_id && revision < Revision::V2025_11_25 => {}
                "/id" if has_null_id || envelope.id.is_none() => {
                    case.tell(Finding::from_schema(MessageRule::BadEnvelope, "", error));
                }
                _ if in_error => case.tell(Finding::from_schema(MessageRule::BadError, "", error)),
                _ => {}
            }
        }
    }
}

/// What a server asks for in place of a result must be something the client can give.
fn check_input_requests(
    case: &mut Case,
    flight: &Flight,
    revision: Revision,
    result: Node<'_>,
    most: usize,
) {
    let Some(capabilities) = flight.capabilities else { return };
    let Some(requests) = result.get("inputRequests") else { return };
    for (key, request) in requests.members().take(most) {
        let Some(method) = request.get("method").and_then(Node::as_str) else { continue };
        let Some((_, path)) = needed_by(&method, Side::Server, revision) else { continue };
        if !capabilities.has(path) {
            let message = format!("`{method}` needs `{path}`, which the client did not announce");
            let place = format!("/result/inputRequests/{}", stickler::tape::escape_segment(&key));
            let finding = Finding::new(MessageRule::Capability, message).at(place);
            case.tell(finding.with(format!("the capability `{path}`"), "none"));
        }
    }
}

/// Whether a modern result says that it is of a kind that the revision does not know.
fn is_extension(result: Node<'_>, revision: Revision) -> bool {
    let kind = result.get("resultType").and_then(Node::as_str);
    revision.era() == Era::Modern
        && kind.is_some_and(|kind| !matches!(kind.as_ref(), "complete" | "input_required"))
}

/// Some codes say what their `data` holds.
fn error_definition(code: Option<i32>, revision: Revision) -> &'static str {
    match (code, revision) {
        (Some(json_rpc::HEADER_MISMATCH), Revision::V2026_07_28) => "HeaderMismatchError",
        (Some(json_rpc::MISSING_CLIENT_CAPABILITY), Revision::V2026_07_28) => {
            "MissingRequiredClientCapabilityError"
        }
        (Some(json_rpc::UNSUPPORTED_VERSION), Revision::V2026_07_28) => {
            "UnsupportedProtocolVersionError"
        }
        (Some(json_rpc::URL_ELICITATION_REQUIRED), Revision::V2025_11_25) => {
            "URLElicitationRequiredError"
        }
        (_, Revision::V2025_11_25 | Revision::V2026_07_28) => "JSONRPCErrorResponse",
        _ => "JSONRPCError",
    }
}

/// A response that was refused is replaced by an error, so that its request is answered all the
/// same; one that answers nothing vanishes.
fn replace_or_forward(case: Case, flight: Option<&Flight>) -> Verdict {
    match (case.refusal(), flight) {
        (None, _) => case.forward(),
        (Some(_), None) => case.decide(Decision::Drop),
        (Some(refusal), Some(flight)) => {
            let reply = Reply { id: Some(&flight.id), revision: flight.revision };
            let error = reply.replacement(refusal);
            case.decide(Decision::Rewrite(error))
        }
    }
}
