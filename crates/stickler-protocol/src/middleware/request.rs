//! Checks requests from either side and registers the forwarded ones as pending.

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::call::DeferredFindings;
use super::case::Case;
use super::malformed::{duplicate_key, duplicate_keys};
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, RequestId};
use crate::headers::CAPABILITIES_KEY;
use crate::protocol::{Era, MethodKind, Revision};
use crate::reply::Reply;
use crate::session::{Capabilities, PendingRequest, required_capability};
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

/// Maximum size of the id, cursor or progress token of a pending request. Longer ids are rejected, to
/// bound memory with many pending requests.
const MAX_STORED_BYTES: usize = 4096;

/// The result of checking a request against the protocol schema.
#[derive(Debug, Default)]
struct RequestShape {
    /// The arguments can be checked against the tool's schema.
    is_valid: bool,
    /// Findings about `arguments`, deferred because the tool's schema gives better messages.
    arguments: Vec<Finding>,
    /// Duplicate keys within `arguments`, deferred likewise.
    duplicate_keys: Vec<Finding>,
}

impl ValidationMiddleware {
    pub(super) fn request(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Verdict {
        let Incoming { side, .. } = incoming;
        let id = envelope.request_id();
        // A response without result or error still belongs to a pending request.
        if envelope.lacks_method_and_outcome()
            && id.as_ref().is_some_and(|id| self.session.pending(side.other()).is_pending(id))
        {
            return self.response(incoming, envelope);
        }
        let mut case = self.case(side);
        case.subject.method = envelope.method.as_deref().map(super::shape::excerpt);
        case.record_envelope_faults(envelope);
        case.subject.id.clone_from(&id);
        let is_duplicate = id.as_ref().is_some_and(|id| self.session.pending(side).is_pending(id));
        if let Some(id) = &id {
            self.check_id(&mut case, side, envelope, id, is_duplicate);
        }
        let method = envelope.method.as_deref().unwrap_or_default();
        let revision = self.session.revision_of_request(method, envelope.params);
        // A duplicate id must not be answered, because the response would end the other request.
        let answerable = envelope.answerable_id().filter(|_| id.is_some() && !is_duplicate);
        let reply = Reply { id: answerable, revision };
        if case.is_rejected() {
            return case.answer_or_forward(reply);
        }
        let mut shape = RequestShape::default();
        if envelope.method.is_some() {
            self.check_declared_revision(&mut case, method, envelope.params);
            shape = self.check_request(&mut case, incoming, envelope, revision);
            self.check_lifecycle(&mut case, side, method, revision);
        }
        let special = if shape.is_valid && method == "tools/call" && side == Side::Client {
            let deferred =
                DeferredFindings { shape: shape.arguments, duplicate_keys: shape.duplicate_keys };
            self.check_call(&mut case, incoming, envelope, reply, deferred)
        } else {
            case.record_each(shape.arguments);
            case.record_each(shape.duplicate_keys);
            None
        };
        match special {
            Some(Decision::Answer(answer)) => return case.decide(Decision::Answer(answer)),
            _ if case.is_rejected() => return case.answer_or_forward(reply),
            _ => {}
        }
        // A duplicate that a lenient policy forwards must not replace the pending request.
        if let Some(id) = id.filter(|_| !is_duplicate) {
            self.start_request(incoming, envelope, id, revision);
        }
        case.decide(special.unwrap_or(Decision::Forward))
    }

    /// Checks that a response to this id would be unambiguous.
    fn check_id(
        &mut self,
        case: &mut Case,
        side: Side,
        envelope: &Envelope<'_>,
        id: &RequestId,
        is_duplicate: bool,
    ) {
        let raw = envelope.id.map(Node::raw).unwrap_or_default();
        let requests = self.session.pending(side);
        if raw.len() > MAX_STORED_BYTES {
            let message = format!("the `id` has more than {MAX_STORED_BYTES} bytes");
            let finding = Finding::new(MessageRule::TooLarge, message).at("/id");
            case.record(
                finding.with(
                    format!("at most {MAX_STORED_BYTES} bytes"),
                    format!("{} bytes", raw.len()),
                ),
            );
        } else if is_duplicate {
            let message = format!("the id {raw} belongs to a pending request");
            let finding = Finding::new(MessageRule::DuplicateId, message).at("/id");
            case.record(finding.with("an unused id", "an id in use"));
        } else if requests.is_full() {
            let message = format!("{} requests are already pending", requests.len());
            case.record(Finding::new(MessageRule::TooManyRequests, message));
        } else if requests.was_used(id) {
            let message = format!("the id {raw} was used before in this session");
            case.record(Finding::new(MessageRule::ReusedId, message).at("/id"));
        }
    }

    fn check_declared_revision(&mut self, case: &mut Case, method: &str, params: Option<Node<'_>>) {
        if method != "initialize" && self.session.is_first_unknown_revision(params) {
            case.note(Finding::new(
                MessageRule::UnknownRevision,
                "the request names an unknown revision; it is not validated against a schema",
            ));
        }
    }

    fn check_request(
        &self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        revision: Option<Revision>,
    ) -> RequestShape {
        let method = envelope.method.as_deref().unwrap_or_default();
        let is_call = method == "tools/call";
        let mut shape = RequestShape { is_valid: true, ..RequestShape::default() };
        for path in duplicate_keys(incoming.node) {
            match path.as_str() {
                "/params/name" | "/params/arguments" if is_call => {
                    let message = format!("`{path}` is given twice");
                    let finding = Finding::new(MessageRule::BadParams, message).at(path);
                    case.record(finding.with("once", "twice or more"));
                    shape.is_valid = false;
                }
                within if is_call && within.starts_with("/params/arguments/") => {
                    shape.duplicate_keys.push(duplicate_key(path));
                }
                _ => case.record(duplicate_key(path)),
            }
        }
        let Some(revision) = revision else {
            return shape;
        };
        let Some(known) = self.lookup_method(case, incoming.side, method, revision) else {
            return shape;
        };
        if known.kind == MethodKind::Notification {
            let message = format!("`{method}` is a notification and has no `id`");
            case.record(Finding::new(MessageRule::UnknownMethod, message).at("/id"));
        }
        let is_about_arguments =
            |finding: &Finding| is_call && finding.path.starts_with("/params/arguments");
        let findings = self.params_findings(incoming, revision, known);
        let (arguments, others): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(is_about_arguments);
        shape.is_valid &= others.is_empty();
        shape.arguments = arguments;
        case.record_each(others);
        shape
    }

    /// Checks that the handshake allows the request and that the peer announced the capability.
    fn check_lifecycle(
        &mut self,
        case: &mut Case,
        side: Side,
        method: &str,
        revision: Option<Revision>,
    ) {
        // A request that declares its revision needs no handshake.
        let is_modern = revision.is_some_and(|one| one.era() == Era::Modern);
        if !is_modern && let Some(message) = self.session.check_request_order(side, method) {
            let finding = Finding::new(MessageRule::Lifecycle, message).at("/method");
            // `initialize` is out of order only if it is repeated.
            case.record(match method {
                "initialize" => finding.with("only one handshake", "another `initialize`"),
                _ => finding.with("the handshake first", super::shape::excerpt(method)),
            });
        }
        self.check_capability(case, side, method, revision);
    }

    pub(super) fn check_capability(
        &self,
        case: &mut Case,
        side: Side,
        method: &str,
        revision: Option<Revision>,
    ) {
        let Some(revision) = revision else { return };
        let Some((who, path)) = required_capability(method, side, revision) else { return };
        if self.session.announced(who).is_some_and(|announced| !announced.has(path)) {
            let message = format!("`{method}` needs `{path}`, which the {who} did not announce");
            let finding = Finding::new(MessageRule::Capability, message).at("/method");
            case.record(finding.with(format!("the capability `{path}`"), "none"));
        }
    }

    fn start_request(
        &mut self,
        Incoming { side, now, .. }: Incoming<'_>,
        envelope: &Envelope<'_>,
        id: RequestId,
        revision: Option<Revision>,
    ) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let list_changes = match method {
            "tools/list" => self.validator.cache().changes(&self.server),
            _ => 0,
        };
        let requests = self.session.pending(side);
        if requests.is_full() {
            return;
        }
        let params = envelope.params;
        let member = |name: &str| params.and_then(|params| params.get(name));
        let text = |name: &str| {
            member(name)
                .and_then(Node::as_str)
                .filter(|text| text.len() <= MAX_STORED_BYTES)
                .map(Into::into)
        };
        let meta = member("_meta");
        let token = meta.and_then(|meta| meta.get("progressToken"));
        let capabilities = meta.and_then(|meta| meta.get(CAPABILITIES_KEY));
        requests.start(
            id,
            PendingRequest {
                id: envelope.id.map(Node::raw).unwrap_or_default().into(),
                method: super::shape::excerpt(method).into(),
                revision,
                tool: (method == "tools/call").then(|| text("name")).flatten(),
                requests_task: member("task").is_some(),
                cursor: text("cursor"),
                has_cursor: member("cursor").is_some(),
                progress_token: token
                    .filter(|token| token.raw().len() <= MAX_STORED_BYTES)
                    .and_then(RequestId::of),
                capabilities: capabilities.map(Capabilities::read),
                sent_at: now,
                list_changes,
            },
        );
        self.session.declare(method, params);
        if method == "initialize" && side == Side::Client {
            self.session.handshake_started(params);
        }
    }
}

impl Case {
    pub(super) fn record_envelope_faults(&mut self, envelope: &Envelope<'_>) {
        for fault in &envelope.faults {
            let finding = Finding::new(MessageRule::BadEnvelope, fault.message.as_ref());
            self.record(finding.at(fault.path).with(fault.expected, fault.received.as_ref()));
        }
    }
}
