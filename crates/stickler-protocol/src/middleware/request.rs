//! Requests, from either side.

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::call::Withheld;
use super::case::Case;
use super::odd::{repeated_key, repeated_keys};
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, RequestId};
use crate::headers::CAPABILITIES_KEY;
use crate::protocol::{Era, MethodKind, Revision};
use crate::reply::Reply;
use crate::session::{Capabilities, Flight, needed_by};
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

/// Longest id, cursor or progress token that is kept while a request is in flight. Longer ids are
/// refused: ten thousand of them would not be a small matter.
const KEPT: usize = 4096;

/// What came of checking a request's shape.
#[derive(Debug, Default)]
struct RequestShape {
    /// Good enough for its arguments to be looked at.
    is_sound: bool,
    /// What is wrong with `arguments` as such, held back: the tool may say it better.
    arguments: Vec<Finding>,
    /// Keys given twice within `arguments`, likewise.
    repeated: Vec<Finding>,
}

impl ValidationMiddleware {
    pub(super) fn request(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Verdict {
        let Incoming { side, .. } = incoming;
        let id = envelope.request_id();
        // An answer that lost its result is still the answer somebody waits for.
        if envelope.is_hollow()
            && id.as_ref().is_some_and(|id| self.session.flights(side.other()).is_open(id))
        {
            return self.response(incoming, envelope);
        }
        let mut case = self.case(side);
        case.subject.method = envelope.method.as_deref().map(super::shape::quoted);
        case.tell_faults(envelope);
        case.subject.id.clone_from(&id);
        let is_open = id.as_ref().is_some_and(|id| self.session.flights(side).is_open(id));
        if let Some(id) = &id {
            self.check_id(&mut case, side, envelope, id, is_open);
        }
        let method = envelope.method.as_deref().unwrap_or_default();
        let revision = self.session.revision_of_request(method, envelope.params);
        // An id that another request has in flight is not answered on behalf of this one.
        let answerable = envelope.answerable_id().filter(|_| id.is_some() && !is_open);
        let reply = Reply { id: answerable, revision };
        if case.is_refused() {
            return case.answer_or_forward(reply);
        }
        let mut shape = RequestShape::default();
        if envelope.method.is_some() {
            self.check_declared(&mut case, method, envelope.params);
            shape = self.check_request(&mut case, incoming, envelope, revision);
            self.check_timing(&mut case, side, method, revision);
        }
        let special = if shape.is_sound && method == "tools/call" && side == Side::Client {
            let withheld = Withheld { shape: shape.arguments, repeated: shape.repeated };
            self.call(&mut case, incoming, envelope, reply, withheld)
        } else {
            case.tell_each(shape.arguments);
            case.tell_each(shape.repeated);
            None
        };
        match special {
            Some(Decision::Answer(answer)) => return case.decide(Decision::Answer(answer)),
            _ if case.is_refused() => return case.answer_or_forward(reply),
            _ => {}
        }
        // What passes by a policy that only warns must not displace the request that came first.
        if let Some(id) = id.filter(|_| !is_open) {
            self.depart(incoming, envelope, id, revision);
        }
        case.decide(special.unwrap_or(Decision::Forward))
    }

    /// An id that cannot be answered unmistakably.
    fn check_id(
        &mut self,
        case: &mut Case,
        side: Side,
        envelope: &Envelope<'_>,
        id: &RequestId,
        is_open: bool,
    ) {
        let raw = envelope.id.map(Node::raw).unwrap_or_default();
        let flights = self.session.flights(side);
        if raw.len() > KEPT {
            let message = format!("the `id` has more than {KEPT} bytes");
            let finding = Finding::new(MessageRule::TooLarge, message).at("/id");
            case.tell(
                finding.with(format!("at most {KEPT} bytes"), format!("{} bytes", raw.len())),
            );
        } else if is_open {
            let message = format!("the id {raw} is that of a request still in flight");
            let finding = Finding::new(MessageRule::DuplicateId, message).at("/id");
            case.tell(finding.with("an id of its own", "one in use"));
        } else if flights.is_full() {
            let message = format!("{} requests wait for an answer already", flights.len());
            case.tell(Finding::new(MessageRule::TooManyRequests, message));
        } else if flights.was_used(id) {
            let message = format!("the id {raw} was used before in this session");
            case.tell(Finding::new(MessageRule::ReusedId, message).at("/id"));
        }
    }

    fn check_declared(&mut self, case: &mut Case, method: &str, params: Option<Node<'_>>) {
        if method != "initialize" && self.session.is_first_unknown(params) {
            case.remark(Finding::new(
                MessageRule::UnknownRevision,
                "the request names a revision that is not known here; its shape is not checked",
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
        let mut shape = RequestShape { is_sound: true, ..RequestShape::default() };
        for path in repeated_keys(incoming.node) {
            match path.as_str() {
                "/params/name" | "/params/arguments" if is_call => {
                    let message = format!("`{path}` is given twice");
                    let finding = Finding::new(MessageRule::BadParams, message).at(path);
                    case.tell(finding.with("once", "twice or more"));
                    shape.is_sound = false;
                }
                within if is_call && within.starts_with("/params/arguments/") => {
                    shape.repeated.push(repeated_key(path));
                }
                _ => case.tell(repeated_key(path)),
            }
        }
        let Some(revision) = revision else {
            return shape;
        };
        let Some(known) = self.look_up(case, incoming.side, method, revision) else {
            return shape;
        };
        if known.kind == MethodKind::Notification {
            let message = format!("`{method}` is a notification and has no `id`");
            case.tell(Finding::new(MessageRule::UnknownMethod, message).at("/id"));
        }
        let of_arguments =
            |finding: &Finding| is_call && finding.path.starts_with("/params/arguments");
        let findings = self.bad_params(incoming, revision, known);
        let (arguments, others): (Vec<_>, Vec<_>) = findings.into_iter().partition(of_arguments);
        shape.is_sound &= others.is_empty();
        shape.arguments = arguments;
        case.tell_each(others);
        shape
    }

    /// Whether this is the time for such a request, and the peer can do it.
    fn check_timing(
        &mut self,
        case: &mut Case,
        side: Side,
        method: &str,
        revision: Option<Revision>,
    ) {
        // A request that says its revision itself needs no handshake, be it the first.
        let is_modern = revision.is_some_and(|one| one.era() == Era::Modern);
        if !is_modern && let Some(message) = self.session.untimely_request(side, method) {
            let finding = Finding::new(MessageRule::Lifecycle, message).at("/method");
            // `initialize` itself is untimely only when it is not the first.
            case.tell(match method {
                "initialize" => finding.with("only one handshake", "another `initialize`"),
                _ => finding.with("the handshake first", super::shape::quoted(method)),
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
        let Some((who, path)) = needed_by(method, side, revision) else { return };
        if self.session.announced(who).is_some_and(|announced| !announced.has(path)) {
            let message = format!("`{method}` needs `{path}`, which the {who} did not announce");
            let finding = Finding::new(MessageRule::Capability, message).at("/method");
            case.tell(finding.with(format!("the capability `{path}`"), "none"));
        }
    }

    fn depart(
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
        let flights = self.session.flights(side);
        if flights.is_full() {
            return;
        }
        let params = envelope.params;
        let member = |name: &str| params.and_then(|params| params.get(name));
        let text = |name: &str| {
            member(name).and_then(Node::as_str).filter(|text| text.len() <= KEPT).map(Into::into)
        };
        let meta = member("_meta");
        let token = meta.and_then(|meta| meta.get("progressToken"));
        let capabilities = meta.and_then(|meta| meta.get(CAPABILITIES_KEY));
        flights.depart(
            id,
            Flight {
                id: envelope.id.map(Node::raw).unwrap_or_default().into(),
                method: super::shape::quoted(method).into(),
                revision,
                tool: (method == "tools/call").then(|| text("name")).flatten(),
                wants_task: member("task").is_some(),
                cursor: text("cursor"),
                has_cursor: member("cursor").is_some(),
                progress_token: token
                    .filter(|token| token.raw().len() <= KEPT)
                    .and_then(RequestId::of),
                capabilities: capabilities.map(Capabilities::read),
                since: now,
                list_changes,
            },
        );
        self.session.declare(method, params);
        if method == "initialize" && side == Side::Client {
            self.session.handshake_asked(params);
        }
    }
}

impl Case {
    pub(super) fn tell_faults(&mut self, envelope: &Envelope<'_>) {
        for fault in &envelope.faults {
            let finding = Finding::new(MessageRule::BadEnvelope, fault.message.as_ref());
            self.tell(finding.at(fault.path).with(fault.expected, fault.received.as_ref()));
        }
    }
}
