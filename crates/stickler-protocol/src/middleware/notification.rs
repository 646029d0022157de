//! Notifications: never answered, so what is wrong with them is told to nobody but the observer.

use std::sync::Arc;

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::case::Case;
use super::odd::{repeated_key, repeated_keys};
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Envelope, RequestId};
use crate::headers::SUBSCRIPTION_KEY;
use crate::policy::Action;
use crate::protocol::{MethodKind, Revision};
use crate::reply::Reply;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

impl ValidationMiddleware {
    pub(super) fn notification(
        &mut self,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Verdict {
        let mut case = self.case(incoming.side);
        case.subject.method = envelope.method.as_deref().map(super::shape::quoted);
        case.tell_faults(envelope);
        if case.is_refused() {
            // No message at all, as far as JSON-RPC goes.
            let revision = self.session.revision();
            return match incoming.side {
                Side::Client => case.answer_or_forward(Reply { id: None, revision }),
                Side::Server => case.decide(Decision::Drop),
            };
        }
        let Some(method) = envelope.method.as_deref() else {
            return case.forward();
        };
        let mut gathered = self.case(incoming.side);
        self.check_notification(&mut gathered, incoming, envelope, method);
        let policy = Arc::clone(&self.policy);
        let is_dropped = |finding: &Finding| {
            policy.notification_action(incoming.side, finding.rule) == Action::Enforce
        };
        let drops = gathered.findings().iter().any(is_dropped);
        for finding in gathered.into_findings() {
            case.remark(finding);
        }
        if drops {
            return case.decide(Decision::Drop);
        }
        self.session.declare(method, envelope.params);
        self.heed(&mut case, incoming, envelope.params, method);
        case.forward()
    }

    fn check_notification(
        &mut self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        method: &str,
    ) {
        for path in repeated_keys(incoming.node) {
            case.tell(repeated_key(path));
        }
        let of_subscription = is_of_subscription(envelope.params);
        let revision = match incoming.side {
            Side::Client => self.session.revision_of_request(method, envelope.params),
            Side::Server if of_subscription => Some(Revision::V2026_07_28),
            Side::Server => self.session.revision(),
        };
        if let Some(revision) = revision
            && let Some(known) = self.look_up(case, incoming.side, method, revision)
        {
            if known.kind == MethodKind::Request {
                let message = format!("`{method}` is a request and needs an `id`");
                let finding = Finding::new(MessageRule::BadEnvelope, message).at("/id");
                case.tell(finding.with("a string or a whole number", "nothing"));
            }
            let findings = self.bad_params(incoming, revision, known);
            case.tell_each(findings);
        }
        if let Some(message) = self.session.untimely_notification(incoming.side, method) {
            case.tell(Finding::new(MessageRule::Lifecycle, message).at("/method"));
        }
        if !self.session.is_modern() && !of_subscription {
            self.check_capability(case, incoming.side, method, revision);
        }
    }

    /// What a notification changes.
    fn heed(
        &mut self,
        case: &mut Case,
        Incoming { side, .. }: Incoming<'_>,
        params: Option<Node<'_>>,
        method: &str,
    ) {
        let member = |name: &str| params.and_then(|params| params.get(name));
        match (side, method) {
            (Side::Client, "notifications/initialized") => self.session.handshake_done(),
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
                let flights = self.session.flights(side.other());
                if token.is_some_and(|token| !flights.expects_progress(&token)) {
                    let message = "no request in flight has this progress token";
                    let finding = Finding::new(MessageRule::UnknownReference, message);
                    case.remark(finding.at("/params/progressToken"));
                }
            }
            _ => {}
        }
    }

    fn cancel(&mut self, case: &mut Case, side: Side, id: Node<'_>) {
        let Some(request) = RequestId::of(id) else { return };
        let is_modern = self.session.is_modern();
        let flights = self.session.flights(side);
        if flights.method_of(&request) == Some("initialize") {
            let message = "`initialize` is not cancelled";
            case.remark(Finding::new(MessageRule::Lifecycle, message).at("/params/requestId"));
            return;
        }
        // A modern server ends a subscription by cancelling the client's request for it.
        if is_modern && side == Side::Server && self.session.flights(Side::Client).cancel(&request)
        {
            return;
        }
        let flights = self.session.flights(side);
        if !flights.cancel(&request) && !flights.was_used(&request) {
            let message = "no request with this id is in flight";
            let finding = Finding::new(MessageRule::UnknownReference, message);
            case.remark(finding.at("/params/requestId"));
        }
    }
}

/// Whether a notification comes to a subscriber, which only a modern one does.
fn is_of_subscription(params: Option<Node<'_>>) -> bool {
    let meta = params.and_then(|params| params.get("_meta"));
    meta.is_some_and(|meta| meta.get(SUBSCRIPTION_KEY).is_some())
}
