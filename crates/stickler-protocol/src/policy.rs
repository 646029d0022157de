//! What becomes of a message that breaks a rule.

pub use stickler::AnswerForm;
use stickler::rules::{MessageRule, Severity};

use crate::side::Side;

/// What a broken rule leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The message does not go on: it is answered, replaced or dropped.
    Enforce,
    /// The message goes on, and the finding is told.
    Warn,
    /// The message goes on, and nothing is said.
    Off,
}

impl Action {
    /// The action with that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "enforce" => Some(Self::Enforce),
            "warn" => Some(Self::Warn),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

/// An action for every rule and side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    default: Stance,
    exceptions: Vec<(Side, MessageRule, Action)>,
    /// What a refused call is answered with.
    pub answer: AnswerForm,
    /// After how many refusals of the very same call the answer becomes short; 0 for never.
    pub repeat_limit: u32,
}

/// Where a policy starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stance {
    /// What the client does wrong is refused where it can be answered; what the server does wrong
    /// passes and is told.
    Helpful,
    /// Errors of both sides are refused, warnings too.
    Strict,
    /// Everything passes and is told.
    Observing,
}

impl Default for Policy {
    fn default() -> Self {
        Self::from_stance(Stance::Helpful)
    }
}

impl Policy {
    /// Refuses whatever is not right, the server's messages included.
    pub fn strict() -> Self {
        Self::from_stance(Stance::Strict)
    }

    /// Refuses nothing: for recorded sessions, where everything has happened already.
    pub fn observing() -> Self {
        Self::from_stance(Stance::Observing)
    }

    fn from_stance(default: Stance) -> Self {
        Self { default, exceptions: Vec::new(), answer: AnswerForm::default(), repeat_limit: 5 }
    }

    /// Sets the action for one rule and the messages of one side.
    #[must_use]
    pub fn with(mut self, side: Side, rule: MessageRule, action: Action) -> Self {
        self.exceptions.retain(|(s, r, _)| (*s, *r) != (side, rule));
        self.exceptions.push((side, rule, action));
        self
    }

    /// What becomes of a message of that side that breaks that rule.
    pub fn action(&self, side: Side, rule: MessageRule) -> Action {
        let exception = self.exceptions.iter().find(|(s, r, _)| (*s, *r) == (side, rule));
        match exception {
            Some((_, _, action)) => *action,
            None => self.default.action(side, rule),
        }
    }

    /// What becomes of a notification of that side that breaks that rule. Nobody waits for an answer
    /// to it, so by default it passes.
    pub fn notification_action(&self, side: Side, rule: MessageRule) -> Action {
        self.action_if_asked_for(side, rule)
    }

    /// What becomes of a call of a tool that the server has never listed, with a name like none that
    /// it lists. Servers may have tools that they do not list, so by default it passes.
    pub fn unlisted_tool_action(&self) -> Action {
        self.action_if_asked_for(Side::Client, MessageRule::UnknownTool)
    }

    /// Enforced only by those who are strict in general or here.
    fn action_if_asked_for(&self, side: Side, rule: MessageRule) -> Action {
        let is_exception = self.exceptions.iter().any(|(s, r, _)| (*s, *r) == (side, rule));
        match self.action(side, rule) {
            Action::Enforce if self.default == Stance::Helpful && !is_exception => Action::Warn,
            action => action,
        }
    }
}

impl Stance {
    fn action(self, side: Side, rule: MessageRule) -> Action {
        use MessageRule as Rule;
        // An id in flight twice, or more requests than can be remembered, would cost some request
        // its answer. What cannot be read cannot be passed on as a message either.
        let never_passes = matches!(
            rule,
            Rule::JsonSyntax
                | Rule::StdoutNoise
                | Rule::EmptyLine
                | Rule::TooLarge
                | Rule::DuplicateId
                | Rule::TooManyRequests
        );
        let client_refused = matches!(
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
            Self::Helpful => never_passes || (side == Side::Client && client_refused),
            Self::Strict => match rule {
                Rule::UnknownMethod => true,
                Rule::Lifecycle | Rule::Capability => false,
                rule => never_passes || rule.severity() > Severity::Note,
            },
        };
        if enforced { Action::Enforce } else { Action::Warn }
    }
}
