//! Proofs of decisions: which decisions of the log a process believes.

use ring::hmac;
use ring::rand::SystemRandom;
use serde_json::json;

use super::approver::{bytes, hex};
use super::{Approver, ApproverKey, Decision, Gate};

/// What a process accepts as a proof: signatures of the approver, as known when it started, and
/// marks that it has made itself.
pub(crate) struct Trust {
    root: String,
    pub(crate) approver: Option<Approver>,
    /// Random and never stored, so that no other process can make a mark.
    own: Option<hmac::Key>,
}

impl Trust {
    pub(crate) fn new(root: &std::path::Path, approver: Option<Approver>) -> Self {
        let own = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok();
        Self { root: root.display().to_string(), approver, own }
    }

    pub(super) fn accepts(&self, gate: &Gate, decision: &Decision, proof: &str) -> bool {
        let statement = self.statement(gate, decision);
        let is_own = || {
            let mark = bytes(proof).unwrap_or_default();
            self.own.as_ref().is_some_and(|own| hmac::verify(own, &statement, &mark).is_ok())
        };
        self.approver.as_ref().is_some_and(|approver| approver.verifies(&statement, proof))
            || is_own()
    }

    /// Signs a decision of the approver.
    pub(super) fn sign(&self, gate: &Gate, decision: &Decision, key: &ApproverKey) -> String {
        key.sign(&self.statement(gate, decision))
    }

    /// Marks a decision that this process got from the user of its client.
    pub(crate) fn mark(&self, gate: &Gate, decision: &Decision) -> String {
        let statement = self.statement(gate, decision);
        self.own.as_ref().map(|own| hex(hmac::sign(own, &statement).as_ref())).unwrap_or_default()
    }

    /// Everything that the decision is about: a proof is valid for no other root, gate or text.
    fn statement(&self, gate: &Gate, decision: &Decision) -> Vec<u8> {
        json!([
            "stickler gate decision 1",
            self.root,
            gate.id,
            gate.opened_at,
            gate.title,
            gate.details,
            gate.task,
            decision.name(),
            decision.reason,
        ])
        .to_string()
        .into_bytes()
    }
}
