//! The policy that maps each rule violation to an action.

pub use stickler::AnswerForm;
use stickler::Mode;
use stickler::rules::{MessageRule, Severity};

use crate::side::Side;

/// The action for a rule violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleAction {
    /// Do not forward the message: answer, replace or drop it.
    Enforce,
    /// Forward the message and report the finding.
    Warn,
    /// Forward the message and report nothing.
    Off,
}

impl RuleAction {
    /// Parses `enforce`, `warn` or `off`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "enforce" => Some(Self::Enforce),
            "warn" => Some(Self::Warn),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

/// An action for every combination of rule and side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    default: Preset,
    exceptions: Vec<(Side, MessageRule, RuleAction)>,
    /// Only reports what [`OBSERVED`] lists, and what the default would have rejected.
    observes: bool,
    /// The form of the response to a rejected call.
    pub answer: AnswerForm,
    /// The number of rejections of an identical call after which the response is shortened; 0 disables
    /// this.
    pub repeat_limit: u32,
}

/// What the mode `observe` only reports.
const OBSERVED: [MessageRule; 6] = [
    MessageRule::BadParams,
    MessageRule::UnknownMethod,
    MessageRule::UnknownTool,
    MessageRule::InvalidArguments,
    MessageRule::UnusableSchema,
    MessageRule::InvalidResult,
];

/// The defaults that a policy starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preset {
    /// Rejects faulty client messages that can be answered; forwards and reports faulty server
    /// messages.
    Helpful,
    /// Rejects errors and warnings of both sides.
    Strict,
    /// Forwards and reports everything.
    Observing,
}

impl Default for Policy {
    fn default() -> Self {
        Self::from_preset(Preset::Helpful)
    }
}

impl Policy {
    /// Returns a policy that rejects every faulty message, including the server's.
    pub fn strict() -> Self {
        Self::from_preset(Preset::Strict)
    }

    /// Returns a policy that rejects nothing, for recorded sessions.
    pub fn observing() -> Self {
        Self::from_preset(Preset::Observing)
    }

    /// Returns the policy of a mode. `Observe` only reports invalid calls, parameters and results; messages that
    /// cannot be routed safely are rejected in every mode.
    pub fn in_mode(mode: Mode) -> Self {
        Self { observes: mode == Mode::Observe, ..Self::default() }
    }

    fn from_preset(default: Preset) -> Self {
        let answer = AnswerForm::default();
        Self { default, exceptions: Vec::new(), observes: false, answer, repeat_limit: 5 }
    }

    /// Sets the action for one rule and the messages of one side.
    #[must_use]
    pub fn with(mut self, side: Side, rule: MessageRule, action: RuleAction) -> Self {
        self.exceptions.retain(|(s, r, _)| (*s, *r) != (side, rule));
        self.exceptions.push((side, rule, action));
        self
    }

    /// Returns the action for a message from `side` that violates `rule`.
    pub fn action(&self, side: Side, rule: MessageRule) -> RuleAction {
        let exception = self.exceptions.iter().find(|(s, r, _)| (*s, *r) == (side, rule));
        match exception {
            Some((_, _, action)) => *action,
            None if self.observes && OBSERVED.contains(&rule) => RuleAction::Warn,
            None => self.default.action(side, rule),
        }
    }

    /// Returns whether a message from `side` that violates `rule` is forwarded only because this policy
    /// observes.
    pub(crate) fn would_reject(&self, side: Side, rule: MessageRule) -> bool {
        self.observes
            && self.action(side, rule) == RuleAction::Warn
            && !self.exceptions.iter().any(|(s, r, _)| (*s, *r) == (side, rule))
            && self.default.action(side, rule) == RuleAction::Enforce
    }

    /// Returns the action for a notification from `side` that violates `rule`. A notification has no
    /// response that could carry the error, so by default it is forwarded.
    pub fn notification_action(&self, side: Side, rule: MessageRule) -> RuleAction {
        self.opt_in_action(side, rule)
    }

    /// Returns the action for a call of a tool that the server never listed, with a name unlike any
    /// listed tool. Servers may have unlisted tools, so by default the call is forwarded.
    pub fn unlisted_tool_action(&self) -> RuleAction {
        self.opt_in_action(Side::Client, MessageRule::UnknownTool)
    }

    /// Returns `Enforce` only under a strict policy or an explicit exception.
    fn opt_in_action(&self, side: Side, rule: MessageRule) -> RuleAction {
        let is_exception = self.exceptions.iter().any(|(s, r, _)| (*s, *r) == (side, rule));
        match self.action(side, rule) {
            RuleAction::Enforce if self.default == Preset::Helpful && !is_exception => {
                RuleAction::Warn
            }
            action => action,
        }
    }
}

impl Preset {
    fn action(self, side: Side, rule: MessageRule) -> RuleAction {
        use MessageRule as Rule;
        // A duplicate id or a request beyond the limit would cost another request its response.
        // Bytes that cannot be parsed cannot be forwarded as a message.
        let always_enforced = matches!(
            rule,
            Rule::JsonSyntax
                | Rule::StdoutNoise
                | Rule::EmptyLine
                | Rule::TooLarge
                | Rule::DuplicateId
                | Rule::TooManyRequests
        );
        let client_enforced = matches!(
            rule,
            Rule::BadEnvelope
                | Rule::BadParams
                | Rule::TooDeep
                | Rule::HeaderMismatch
                | Rule::UnknownTool
                | Rule::InvalidArguments
        );
        let enforced = match self {
            Self::Observing => false,
            Self::Helpful => always_enforced || (side == Side::Client && client_enforced),
            Self::Strict => match rule {
                Rule::UnknownMethod => true,
                Rule::Lifecycle | Rule::Capability => false,
                rule => always_enforced || rule.severity() > Severity::Note,
            },
        };
        if enforced { RuleAction::Enforce } else { RuleAction::Warn }
    }
}
