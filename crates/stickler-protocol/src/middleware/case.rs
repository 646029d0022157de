//! What is being said about one message, and whether it may go on.

use std::sync::Arc;

use stickler::rules::MessageRule;
use stickler::{Edit, ValidationError};

use crate::policy::{Action, Policy};
use crate::reply::Reply;
use crate::side::Side;
use crate::verdict::{Decision, Finding, Subject, Verdict};

/// The findings about a message, gathered under a policy.
#[derive(Debug)]
pub(super) struct Case {
    policy: Arc<Policy>,
    side: Side,
    findings: Vec<Finding>,
    /// The finding that keeps the message from going on: the first one that is enforced.
    refusal: Option<usize>,
    pub(super) edits: Vec<Edit>,
    pub(super) subject: Subject,
}

impl Case {
    pub(super) fn new(policy: Arc<Policy>, side: Side) -> Self {
        Self {
            policy,
            side,
            findings: Vec::new(),
            refusal: None,
            edits: Vec::new(),
            subject: Subject::default(),
        }
    }

    /// Something is wrong: the policy says what that leads to.
    pub(super) fn tell(&mut self, finding: Finding) {
        let action = self.policy.action(self.side, finding.rule);
        self.tell_by(action, finding);
    }

    /// Something is wrong, and that is what it leads to.
    pub(super) fn tell_by(&mut self, action: Action, finding: Finding) {
        match action {
            Action::Off => return,
            Action::Warn => {}
            Action::Enforce => {
                self.refusal.get_or_insert(self.findings.len());
            }
        }
        self.findings.push(finding);
    }

    /// Something is so wrong that the message cannot go on, whatever the policy.
    pub(super) fn refuse(&mut self, finding: Finding) {
        self.refusal.get_or_insert(self.findings.len());
        self.findings.push(finding);
    }

    pub(super) fn tell_each(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.tell(finding);
        }
    }

    /// Something is worth telling, whatever the policy: the message goes on all the same.
    pub(super) fn remark(&mut self, finding: Finding) {
        if self.policy.action(self.side, finding.rule) != Action::Off {
            self.findings.push(finding);
        }
    }

    /// What a schema has against a part of the message.
    pub(super) fn tell_all(
        &mut self,
        rule: MessageRule,
        place: &str,
        errors: impl IntoIterator<Item = ValidationError>,
    ) {
        self.tell_each(errors.into_iter().map(|error| Finding::from_schema(rule, place, error)));
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

    /// Whether breaking a rule keeps a message of this side from going on.
    pub(super) fn enforces(&self, rule: MessageRule) -> bool {
        self.policy.action(self.side, rule) == Action::Enforce
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// The finding that the sender is told first.
    pub(super) fn refusal(&self) -> Option<&Finding> {
        self.findings.get(self.refusal?)
    }

    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(super) fn decide(self, decision: Decision) -> Verdict {
        let Self { findings, edits, subject, .. } = self;
        Verdict { decision, findings, edits, subject, parts: Vec::new() }
    }

    pub(super) fn forward(self) -> Verdict {
        self.decide(Decision::Forward)
    }

    /// The message is answered if it was refused, and goes on if it was not.
    pub(super) fn answer_or_forward(self, reply: Reply<'_>) -> Verdict {
        let Some(refusal) = self.refusal() else {
            return self.forward();
        };
        let answer = reply.refusal(refusal, &self.findings);
        self.decide(Decision::Answer(answer))
    }

    /// The message vanishes if it was refused.
    pub(super) fn drop_or_forward(self) -> Verdict {
        let decision = if self.is_refused() { Decision::Drop } else { Decision::Forward };
        self.decide(decision)
    }
}
