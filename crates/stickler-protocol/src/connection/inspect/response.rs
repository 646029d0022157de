//! Responses of either side: inspection against their pending requests, and the commit that completes these.

use std::sync::Arc;

use stickler::rules::{MessageRule, Severity, json_rpc};
use stickler::tape::{Kind, Node, splice};

use super::{Case, Connection, Incoming};
use crate::connection::capabilities::required_capability;
use crate::connection::pending::{Match, PendingRequest};
use crate::connection::revision::handshake_revision;
use crate::envelope::{Envelope, Header, MessageKind, RequestId, Shape, excerpt};
use crate::protocol::{Era, MethodLookup, Revision};
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

impl Connection {
    pub(super) fn response(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Verdict {
        // A message without result and error may still be the response to a pending request.
        let mut header = Header { kind: MessageKind::Response, ..Header::of(envelope) };
        let meant = header.id.as_ref().and_then(|id| self.corrected_id(incoming.side, id));
        let corrects_id = meant.is_some();
        header.id = meant.or(header.id);
        let mut case = self.case(incoming.side, header);
        if corrects_id {
            let raw = envelope.id.map(Node::raw).map(excerpt).unwrap_or_default();
            let meant = case.header.id.as_ref().map(RequestId::to_json).unwrap_or_default();
            let message =
                format!("the response has the id {raw}; the id of the request is {meant}");
            let finding = Finding::new(MessageRule::UnpairedResponse, message).at("/id");
            case.record(finding.with(meant, raw));
        }
        case.record_envelope_faults(envelope);
        for path in super::malformed::duplicate_keys(incoming.node) {
            case.record(super::malformed::duplicate_key(path));
        }
        let pending = self.find_request(&mut case, incoming.side, envelope);
        match (pending, envelope.shape, envelope.outcome) {
            (Some(pending), Shape::Result, Some(result)) => {
                self.check_result(&mut case, incoming, pending, result);
            }
            (_, Shape::Error, Some(_)) => {
                let revision = pending.map_or(self.lifecycle.revision(), |one| one.revision);
                self.check_error(&mut case, incoming, envelope, revision);
            }
            _ => {}
        }
        self.commit_response(case, incoming, envelope)
    }

    /// Completes the request of a response and applies the outcome to the connection.
    fn commit_response(
        &mut self,
        mut case: Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Verdict {
        let requests = self.pending.of_mut(incoming.side.other());
        let Some(pending) = case.header.id.as_ref().and_then(|id| requests.complete(id)) else {
            let is_unmatched = |id| matches!(requests.find(id), Match::Unknown);
            if incoming.side == Side::Server && case.header.id.as_ref().is_none_or(is_unmatched) {
                let id = case.header.id.clone();
                self.note_unmatched(id.as_ref(), incoming.now);
            }
            return replace_or_forward(case, None);
        };
        let is_corrected = envelope.request_id() != case.header.id;
        match (envelope.shape, envelope.outcome, &*pending.method) {
            (Shape::Result, Some(result), _) if !case.is_rejected() => {
                self.apply_result(&mut case, incoming, &pending, result);
            }
            (Shape::Error, Some(_), "server/discover") => self.lifecycle.undeclare(),
            (Shape::Error, Some(_), "initialize") => self.lifecycle.handshake_failed(),
            (_, _, "initialize") if case.is_rejected() => self.lifecycle.handshake_failed(),
            _ => {}
        }
        let header = Arc::make_mut(&mut case.header);
        header.method = Some(pending.method.clone());
        header.tool.clone_from(&pending.tool);
        header.duration = Some(incoming.now.saturating_sub(pending.sent_at));
        header.is_failed_call = &*pending.method == "tools/call" && is_failure(envelope);
        let mut verdict = replace_or_forward(case, Some(&pending));
        if is_corrected && verdict.decision == Decision::Forward {
            verdict.decision = with_id(incoming.node, envelope, &pending.id);
        }
        verdict
    }

    /// Rejects a response of which only the id is known.
    pub(super) fn unparsed_response(&mut self, mut case: Case, id: Option<&str>) -> Verdict {
        let id = id.and_then(super::malformed::parse_id);
        case.header = Arc::new(Header::response(id.clone(), None));
        let requester = case.side().other();
        // The error replaces the response, so a later response is not forwarded.
        let pending = id.and_then(|id| self.pending.of_mut(requester).abandon(&id));
        let Some(pending) = pending else { return case.drop_or_forward() };
        if &*pending.method == "initialize" {
            self.lifecycle.handshake_failed();
        }
        Arc::make_mut(&mut case.header).method = Some(pending.method.clone());
        replace_or_forward(case, Some(&pending))
    }

    /// Finds the pending request that a response answers.
    fn find_request<'p>(
        &'p self,
        case: &mut Case,
        side: Side,
        envelope: &Envelope<'_>,
    ) -> Option<&'p PendingRequest> {
        let raw = || envelope.id.map(Node::raw).map(excerpt).unwrap_or_default();
        let message = match self.pending.of(side.other()).find(case.header.id.as_ref()?) {
            Match::Pending(pending) => return Some(pending),
            // Cancellation and response crossed, which is not an error.
            Match::Cancelled => return None,
            Match::Abandoned => {
                let message = format!("the request with the id {} was abandoned", raw());
                case.reject(Finding::new(MessageRule::UnpairedResponse, message).at("/id"));
                return None;
            }
            Match::Duplicate => {
                let message = format!("the request with the id {} was already answered", raw());
                let finding = Finding::new(MessageRule::UnpairedResponse, message).at("/id");
                case.reject(finding.with("one response", "a second one"));
                return None;
            }
            Match::Unknown => format!("no pending request has the id {}", raw()),
        };
        let finding = Finding::new(MessageRule::UnpairedResponse, message).at("/id");
        case.record(finding.with("the id of a pending request", raw()));
        None
    }

    fn check_result(
        &self,
        case: &mut Case,
        incoming: Incoming<'_>,
        pending: &PendingRequest,
        result: Node<'_>,
    ) {
        let revision = match &*pending.method {
            // The response to `initialize` determines the revision.
            "initialize" if !self.lifecycle.is_fixed() => {
                Some(handshake_revision(result.get("protocolVersion")))
            }
            _ => pending.revision,
        };
        if &*pending.method == "tools/call" {
            self.check_structured_content(case, incoming.now, pending, result);
        }
        let Some(revision) = revision else { return };
        let validator = self.protocol.get(revision);
        let MethodLookup::Known(method) = validator.method(incoming.side.other(), &pending.method)
        else {
            // For unknown methods, the only requirement is that the result is an object.
            if result.kind() != Kind::Object {
                let finding = Finding::new(MessageRule::BadResult, "`result` must be an object");
                case.record(finding.at("/result").with("an object", result.type_name()));
            }
            return;
        };
        let Some(definition) = method.result_for(result, pending.requests_task) else { return };
        // A result type of an extension only has to be an object.
        let definition = if is_extension(result, revision) {
            note_result_type(case, revision, result);
            "Result"
        } else {
            definition
        };
        let errors = self.schema_errors(revision, definition, result, "/result");
        case.record_schema_errors(MessageRule::BadResult, "/result", errors);
        check_input_requests(case, pending, revision, result, self.limits().errors);
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
        for error in self.schema_errors(revision, definition, incoming.node, "") {
            let in_error = error.path.starts_with("/error") || error.path.is_empty();
            match error.path.as_str() {
                // JSON-RPC requires a null id if the id could not be read. Since 2025-11-25 the id is
                // omitted instead.
                "/id" if has_null_id && revision < Revision::V2025_11_25 => {}
                "/id" if has_null_id || envelope.id.is_none() => {
                    case.record(Finding::from_schema(MessageRule::BadEnvelope, "", &error));
                }
                _ if in_error => {
                    case.record(Finding::from_schema(MessageRule::BadError, "", &error));
                }
                _ => {}
            }
        }
    }
}

/// Checks that the client announced the capabilities for the input that a server requests.
fn check_input_requests(
    case: &mut Case,
    pending: &PendingRequest,
    revision: Revision,
    result: Node<'_>,
    limit: usize,
) {
    let Some(capabilities) = pending.capabilities else { return };
    let Some(requests) = result.get("inputRequests") else { return };
    for (key, request) in requests.members().take(limit) {
        let Some(method) = request.get("method").and_then(Node::as_str) else { continue };
        let Some((_, path)) = required_capability(&method, Side::Server, revision) else {
            continue;
        };
        if !capabilities.has(path) {
            let message = format!("`{method}` needs `{path}`, which the client did not announce");
            let place = format!("/result/inputRequests/{}", stickler::tape::escape_segment(&key));
            let finding = Finding::new(MessageRule::Capability, message).at(place);
            case.record(finding.with(format!("the capability `{path}`"), "none"));
        }
    }
}

/// Returns whether a response to a call is an error or a result with `isError`.
fn is_failure(envelope: &Envelope<'_>) -> bool {
    let is_error = |result: Node<'_>| result.get("isError").and_then(Node::as_bool) == Some(true);
    envelope.shape == Shape::Error || envelope.outcome.is_some_and(is_error)
}

/// Returns whether a modern result has a result type that the revision does not define.
fn is_extension(result: Node<'_>, revision: Revision) -> bool {
    let kind = result.get("resultType").and_then(Node::as_str);
    revision.era() == Era::Modern
        && kind.is_some_and(|kind| !matches!(kind.as_ref(), "complete" | "input_required"))
}

/// Notes a result type that only an extension can define.
fn note_result_type(case: &mut Case, revision: Revision, result: Node<'_>) {
    let kind = result.get("resultType").map(Node::raw).map(excerpt).unwrap_or_default();
    let message = format!("{revision} does not define the result type {kind}");
    let mut finding = Finding::new(MessageRule::BadResult, message).at("/result/resultType");
    finding.severity = Severity::Note;
    case.note(finding.with("\"complete\" or \"input_required\"", kind));
}

/// Returns the schema definition of an error; some codes define their `data`.
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

/// Returns the response with the id of its request.
fn with_id(message: Node<'_>, envelope: &Envelope<'_>, id: &str) -> Decision {
    let begin = message.span().start;
    let span = envelope.id.map(Node::span);
    let span = span.map(|span| span.start.saturating_sub(begin)..span.end.saturating_sub(begin));
    let edit = span.map(|span| (span, id));
    Decision::Rewrite(splice(message.raw(), edit.into_iter().collect()).into_bytes())
}

/// Replaces a rejected response by an error, so that its request is still answered. A rejected
/// response without a pending request is dropped.
fn replace_or_forward(mut case: Case, pending: Option<&PendingRequest>) -> Verdict {
    match (case.rejection(), pending) {
        (None, _) => case.forward(),
        (Some(_), None) => case.decide(Decision::Drop),
        (Some(rejection), Some(pending)) => {
            let responder = Responder { id: Some(&pending.id), revision: pending.revision };
            let error = responder.replacement(rejection);
            Arc::make_mut(&mut case.header).code = Some(json_rpc::INTERNAL_ERROR);
            case.decide(Decision::Rewrite(error))
        }
    }
}
