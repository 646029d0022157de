//! The values, and what they are when nobody says anything.

use std::time::Duration;

use clap::ValueEnum;
use stickler::{AnswerForm, MessageRule, ValidationConfig};
use stickler_protocol::{Action, GatekeeperSettings, Policy, Side};
use stickler_transport::Restart;

use crate::logging::LogSettings;
use crate::protocol_schema::SchemaSource;

/// What concerns clients and the run as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSettings {
    /// Where clients come to by HTTP; `None` for standard input and output.
    pub(crate) listen: Option<String>,
    /// Where on that address servers are.
    pub(crate) path: String,
    /// Origins that browsers may come from, beside those of this machine.
    pub(crate) origins: Vec<String>,
    /// The variable with the token that clients must show.
    pub(crate) token_env: Option<String>,
    /// What is logged, and how.
    pub(crate) log: LogSettings,
    /// Official schemas in the place of the built-in ones.
    pub(crate) schemas: Vec<SchemaSource>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            listen: None,
            path: "/mcp".to_owned(),
            origins: Vec::new(),
            token_env: None,
            log: LogSettings::default(),
            schemas: Vec::new(),
        }
    }
}

/// What can differ from server to server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    /// How long a session may be without use.
    pub(crate) idle: Duration,
    /// After how long a quiet stream says that it is still there.
    pub(crate) keep_alive: Duration,
    /// How many processes of the server there may be.
    pub(crate) children: usize,
    /// How many sessions of a server at a URL are known at once.
    pub(crate) sessions: usize,
    /// How long a server has to end by itself.
    pub(crate) grace: Duration,
    pub(crate) restart: Restart,
    pub(crate) strict: bool,
    pub(crate) answer: AnswerForm,
    /// How often the same bad call is explained at length.
    pub(crate) retry_limit: u32,
    /// What differs from the usual policy.
    pub(crate) exceptions: Vec<(Side, MessageRule, Action)>,
    pub(crate) validation: ValidationConfig,
    pub(crate) gatekeeper: GatekeeperSettings,
}

impl Default for ServerSettings {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            idle: Duration::from_secs(1800),
            keep_alive: Duration::from_secs(15),
            children: 64,
            sessions: 10_000,
            grace: Duration::from_secs(5),
            restart: Restart::default(),
            strict: false,
            answer: policy.answer,
            retry_limit: policy.repeat_limit,
            exceptions: Vec::new(),
            validation: ValidationConfig::default(),
            gatekeeper: GatekeeperSettings::default(),
        }
    }
}

impl ServerSettings {
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = if self.strict { Policy::strict() } else { Policy::default() };
        policy.answer = self.answer;
        policy.repeat_limit = self.retry_limit;
        let exceptions = self.exceptions.iter();
        exceptions.fold(policy, |policy, (side, rule, action)| policy.with(*side, *rule, *action))
    }
}

/// What happens to calls while the tools are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WithoutTools {
    /// They wait for the tools
    Wait,
    /// They go on unchecked
    Pass,
}
