//! The settings and their defaults.

use std::time::Duration;

use clap::ValueEnum;
use stickler::{AnswerForm, MessageRule, ValidationConfig};
use stickler_protocol::{ConnectionSettings, Policy, RuleAction, Side};
use stickler_transport::Restart;

use crate::logging::LogSettings;
use crate::protocol_schema::SchemaSource;

/// Settings of the run and of the HTTP frontend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSettings {
    /// Listen address for HTTP clients; `None` for standard input and output.
    pub(crate) listen: Option<String>,
    /// HTTP path of the MCP endpoint.
    pub(crate) path: String,
    /// Allowed browser origins, in addition to those of this machine.
    pub(crate) origins: Vec<String>,
    /// Environment variable with the bearer token that clients must send.
    pub(crate) token_env: Option<String>,
    /// Level and format of the log.
    pub(crate) log: LogSettings,
    /// Official schemas that replace the built-in ones.
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

/// Settings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    /// Time after which an idle session is closed.
    pub(crate) idle: Duration,
    /// Interval of keep-alive comments on an idle stream.
    pub(crate) keep_alive: Duration,
    /// Maximum number of processes of the server.
    pub(crate) children: usize,
    /// Maximum number of cached sessions of a server at a URL.
    pub(crate) sessions: usize,
    /// Grace period for the server to exit.
    pub(crate) grace: Duration,
    pub(crate) restart: Restart,
    pub(crate) strict: bool,
    pub(crate) answer: AnswerForm,
    /// Number of times that the same invalid call gets the full help.
    pub(crate) retry_limit: u32,
    /// Overrides of the default policy.
    pub(crate) exceptions: Vec<(Side, MessageRule, RuleAction)>,
    pub(crate) validation: ValidationConfig,
    pub(crate) connection: ConnectionSettings,
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
            connection: ConnectionSettings::default(),
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

/// Handling of calls while the tool list is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WithoutTools {
    /// Hold them until the tool list arrives
    Wait,
    /// Forward them without validation
    Pass,
}
