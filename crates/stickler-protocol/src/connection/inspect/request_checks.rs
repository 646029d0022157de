//! Checks of a request: its id, its parameters, the handshake and the capabilities.

use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::malformed::{duplicate_key, duplicate_keys};
use super::{Case, Connection, Incoming};
use crate::connection::capabilities::required_capability;
use crate::envelope::{Envelope, RequestId, excerpt};
use crate::protocol::{Era, MethodKind, Revision};
use crate::side::Side;
use crate::verdict::Finding;

/// Maximum size of the id, cursor or progress token of a pending request. Longer ids are rejected, to
/// bound memory with many pending requests.
pub(super) const MAX_STORED_BYTES: usize = 4096;

/// The result of checking a request against the protocol schema.
#[derive(Debug, Default)]
pub(super) struct RequestShape {
    /// The arguments can be checked against the tool's schema.
    pub(super) is_valid: bool,
    /// Findings about `arguments`, deferred because the tool's schema gives better messages.
    pub(super) arguments: Vec<Finding>,
    /// Duplicate keys within `arguments`, deferred likewise.
    pub(super) duplicate_keys: Vec<Finding>,
}

impl Connection {
    /// Checks that a response to this id would be unambiguous.
    pub(super) fn check_id(
        &self,
        case: &mut Case,
        Incoming { side, attempt, .. }: Incoming<'_>,
        envelope: &Envelope<'_>,
        id: &RequestId,
        is_duplicate: bool,
    ) {
        let raw = envelope.id.map(Node::raw).unwrap_or_default();
        let requests = self.pending.of(side);
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
        } else if let Some(no_room) = attempt.no_room
            && envelope.method.as_deref() == Some("tools/call")
        {
            case.record(Finding::new(MessageRule::TooManyRequests, no_room.to_string()));
        } else if requests.was_used(id) {
            let message = format!("the id {raw} was used before in this session");
            case.record(Finding::new(MessageRule::ReusedId, message).at("/id"));
        }
    }

    /// Notes the first unknown revision; returns whether this request declares it.
    pub(super) fn check_declared_revision(
        &self,
        case: &mut Case,
        method: &str,
        params: Option<Node<'_>>,
    ) -> bool {
        let is_unknown = method != "initialize" && self.lifecycle.is_first_unknown_revision(params);
        if is_unknown {
            case.note(Finding::new(
                MessageRule::UnknownRevision,
                "the request names an unknown revision; it is not validated against a schema",
            ));
        }
        is_unknown
    }

    pub(super) fn check_request(
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

    /// Checks that the handshake allows the request and that the peer announced the capability. Returns
    /// whether the peers use no handshake.
    pub(super) fn check_lifecycle(
        &self,
        case: &mut Case,
        side: Side,
        method: &str,
        revision: Option<Revision>,
    ) -> bool {
        // A request that declares its revision needs no handshake.
        let is_modern = revision.is_some_and(|one| one.era() == Era::Modern);
        let fault = self.lifecycle.check_request_order(side, method).filter(|_| !is_modern);
        if let Some(fault) = fault {
            let finding = Finding::new(MessageRule::Lifecycle, fault.message).at("/method");
            // `initialize` is out of order only if it is repeated.
            case.record(match method {
                "initialize" => finding.with("only one handshake", "another `initialize`"),
                _ => finding.with("the handshake first", excerpt(method)),
            });
        }
        self.check_capability(case, side, method, revision);
        fault.is_some_and(|fault| fault.skips_handshake)
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
        if self.lifecycle.announced(who).is_some_and(|announced| !announced.has(path)) {
            let message = format!("`{method}` needs `{path}`, which the {who} did not announce");
            let finding = Finding::new(MessageRule::Capability, message).at("/method");
            case.record(finding.with(format!("the capability `{path}`"), "none"));
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
