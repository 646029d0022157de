//! Collects the findings about one message and derives the verdict from the policy.

use std::sync::Arc;

use stickler::rules::MessageRule;
use stickler::{Edit, ValidationError};

use crate::envelope::Header;
use crate::policy::{Policy, RuleAction};
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Verdict};

/// The findings about a message under a policy.
#[derive(Debug)]
pub(in crate::connection) struct Case {
    policy: Arc<Policy>,
    side: Side,
    findings: Vec<Finding>,
    /// Index of the finding that rejects the message: the first enforced one.
    rejection: Option<usize>,
    /// A finding would reject the message if the policy did not only observe.
    would_reject: bool,
    pub(super) edits: Vec<Edit>,
    /// Allocated from the start, because a case is moved several times.
    pub(super) header: Arc<Header>,
}

impl Case {
    pub(super) fn new(policy: Arc<Policy>, side: Side, header: Header) -> Self {
        let header = Arc::new(header);
        Self {
            policy,
            side,
            findings: Vec::new(),
            rejection: None,
            would_reject: false,
            edits: Vec::new(),
            header,
        }
    }

    /// Records a finding with the action that the policy defines for its rule.
    pub(super) fn record(&mut self, finding: Finding) {
        let action = self.policy.action(self.side, finding.rule);
        self.would_reject |= self.policy.would_reject(self.side, finding.rule);
        self.record_as(action, finding);
    }

    /// Records a finding with the given action.
    pub(super) fn record_as(&mut self, action: RuleAction, finding: Finding) {
        match action {
            RuleAction::Off => return,
            RuleAction::Warn => {}
            RuleAction::Enforce => {
                self.rejection.get_or_insert(self.findings.len());
            }
        }
        self.findings.push(finding);
    }

    /// Records a finding and rejects the message regardless of the policy.
    pub(super) fn reject(&mut self, finding: Finding) {
        self.rejection.get_or_insert(self.findings.len());
        self.findings.push(finding);
    }

    pub(super) fn record_each(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.record(finding);
        }
    }

    /// Records a finding that never rejects the message.
    pub(in crate::connection) fn note(&mut self, finding: Finding) {
        if self.policy.action(self.side, finding.rule) != RuleAction::Off {
            self.findings.push(finding);
        }
    }

    /// Records the schema errors of a part of the message.
    pub(in crate::connection) fn record_schema_errors(
        &mut self,
        rule: MessageRule,
        place: &str,
        errors: impl IntoIterator<Item = ValidationError>,
    ) {
        self.record_each(errors.into_iter().map(|error| Finding::from_schema(rule, place, &error)));
    }

    /// Adds whether a message of a batch would be rejected.
    pub(super) fn add_would_reject(&mut self, would_reject: bool) {
        self.would_reject |= would_reject;
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns whether the policy enforces a rule for this side.
    pub(super) fn enforces(&self, rule: MessageRule) -> bool {
        self.policy.action(self.side, rule) == RuleAction::Enforce
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.rejection.is_some()
    }

    /// Returns the finding that rejects the message.
    pub(super) fn rejection(&self) -> Option<&Finding> {
        self.findings.get(self.rejection?)
    }

    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(super) fn decide(self, decision: Decision) -> Verdict {
        let would_reject = self.would_reject && self.rejection.is_none();
        let Self { findings, edits, header, .. } = self;
        Verdict { decision, findings, would_reject, edits, header, parts: Vec::new() }
    }

    pub(super) fn forward(self) -> Verdict {
        self.decide(Decision::Forward)
    }

    /// Answers a rejected message; forwards any other.
    pub(super) fn answer_or_forward(self, responder: Responder<'_>) -> Verdict {
        let Some(rejection) = self.rejection() else {
            return self.forward();
        };
        let answer = responder.rejection(rejection, &self.findings);
        self.decide(Decision::Answer(Box::new(answer)))
    }

    /// Drops a rejected message; forwards any other.
    pub(super) fn drop_or_forward(self) -> Verdict {
        let decision = if self.is_rejected() { Decision::Drop } else { Decision::Forward };
        self.decide(decision)
    }
}
