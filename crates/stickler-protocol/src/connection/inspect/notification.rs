//! Checks notifications. They have no response, so findings are only reported to the observer.

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::malformed::{duplicate_key, duplicate_keys};
use super::{Case, Connection, Incoming};
use crate::envelope::{Envelope, Header, RequestId};
use crate::headers::SUBSCRIPTION_KEY;
use crate::policy::RuleAction;
use crate::protocol::{MethodKind, Revision};
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

impl Connection {
    pub(super) fn notification(
        &mut self,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Verdict {
        let mut case = self.case(incoming.side, Header::of(envelope));
        case.record_envelope_faults(envelope);
        if case.is_rejected() {
            // Not a valid JSON-RPC message, so it may be answered.
            let revision = self.lifecycle.revision();
            return match incoming.side {
                Side::Client => case.answer_or_forward(Responder { id: None, revision }),
                Side::Server => case.decide(Decision::Drop),
            };
        }
        let Some(method) = envelope.method.as_deref() else {
            return case.forward();
        };
        let mut checked = self.case(incoming.side, Header::default());
        let skips_handshake = self.check_notification(&mut checked, incoming, envelope, method);
        let is_dropped = |finding: &Finding| {
            self.policy.notification_action(incoming.side, finding.rule) == RuleAction::Enforce
        };
        let drops = checked.findings().iter().any(is_dropped);
        for finding in checked.into_findings() {
            case.note(finding);
        }
        if skips_handshake {
            self.lifecycle.skip_handshake();
        }
        if drops {
            return case.decide(Decision::Drop);
        }
        self.lifecycle.declare(method, envelope.params);
        self.apply_notification(&mut case, incoming, envelope.params, method);
        case.forward()
    }

    /// Checks a notification. Returns whether the peers use no handshake.
    fn check_notification(
        &self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        method: &str,
    ) -> bool {
        for path in duplicate_keys(incoming.node) {
            case.record(duplicate_key(path));
        }
        let is_subscription = belongs_to_subscription(envelope.params);
        let revision = match incoming.side {
            Side::Client => self.lifecycle.revision_of_request(method, envelope.params),
            Side::Server if is_subscription => Some(Revision::V2026_07_28),
            Side::Server => self.lifecycle.revision(),
        };
        if let Some(revision) = revision
            && let Some(known) = self.lookup_method(case, incoming.side, method, revision)
        {
            if known.kind == MethodKind::Request {
                let message = format!("`{method}` is a request and needs an `id`");
                let finding = Finding::new(MessageRule::BadEnvelope, message).at("/id");
                case.record(finding.with("a string or a whole number", "nothing"));
            }
            let findings = self.params_findings(incoming, revision, known);
            case.record_each(findings);
        }
        let fault = self.lifecycle.check_notification_order(incoming.side, method);
        if let Some(fault) = fault {
            case.record(Finding::new(MessageRule::Lifecycle, fault.message).at("/method"));
        }
        if !self.lifecycle.is_modern() && !is_subscription {
            self.check_capability(case, incoming.side, method, revision);
        }
        fault.is_some_and(|fault| fault.skips_handshake)
    }

    /// Applies a notification to the session.
    fn apply_notification(
        &mut self,
        case: &mut Case,
        Incoming { side, .. }: Incoming<'_>,
        params: Option<Node<'_>>,
        method: &str,
    ) {
        let member = |name: &str| params.and_then(|params| params.get(name));
        match (side, method) {
            (Side::Client, "notifications/initialized") => self.lifecycle.handshake_done(),
            (Side::Server, "notifications/tools/list_changed") => {
                self.validator.cache().mark_changed(&self.server);
            }
            (_, "notifications/cancelled") => {
                if let Some(id) = member("requestId") {
                    self.cancel(case, side, id);
                }
            }
            (_, "notifications/progress") => {
                let token = member("progressToken").and_then(RequestId::of);
                let requests = self.pending.of(side.other());
                if token.is_some_and(|token| !requests.expects_progress(&token)) {
                    let message = "no pending request has this progress token";
                    let finding = Finding::new(MessageRule::UnknownReference, message);
                    case.note(finding.at("/params/progressToken"));
                }
            }
            _ => {}
        }
    }

    fn cancel(&mut self, case: &mut Case, side: Side, id: Node<'_>) {
        let Some(request) = RequestId::of(id) else { return };
        let is_modern = self.lifecycle.is_modern();
        if self.pending.of(side).method_of(&request) == Some("initialize") {
            let message = "`initialize` must not be cancelled";
            case.note(Finding::new(MessageRule::Lifecycle, message).at("/params/requestId"));
            return;
        }
        // A modern server ends a subscription by cancelling the client's request for it.
        if is_modern && side == Side::Server && self.pending.of_mut(Side::Client).cancel(&request) {
            return;
        }
        let requests = self.pending.of_mut(side);
        if !requests.cancel(&request) && !requests.was_used(&request) {
            let message = "no pending request has this id";
            let finding = Finding::new(MessageRule::UnknownReference, message);
            case.note(finding.at("/params/requestId"));
        }
    }
}

/// Returns whether a notification belongs to a subscription, which exists only in modern revisions.
fn belongs_to_subscription(params: Option<Node<'_>>) -> bool {
    let meta = params.and_then(|params| params.get("_meta"));
    meta.is_some_and(|meta| meta.get(SUBSCRIPTION_KEY).is_some())
}
