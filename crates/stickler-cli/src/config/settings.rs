//! The settings and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use stickler::{AnswerForm, MessageRule, Mode, Repair, UnknownFields, ValidationConfig};
use stickler_protocol::{ConnectionSettings, Policy, RuleAction, Side};
use stickler_transport::Restart;

use crate::cli::{RecordValues, SummaryFormat};
use crate::logging::LogSettings;
use crate::protocol_schema::SchemaSource;

/// Settings of the run and of the HTTP frontend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSettings {
    /// Listen address for HTTP clients; `None` for standard input and output.
    pub(crate) listen: Option<String>,
    /// Listen address for operators.
    pub(crate) admin_listen: Option<String>,
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
    /// Form of the summary.
    pub(crate) summary: SummaryFormat,
    pub(crate) record: RecordSettings,
    /// Address of a collector of OpenTelemetry.
    pub(crate) otel_endpoint: Option<String>,
    /// Put the trace context of forwarded requests into their `_meta`.
    pub(crate) otel_inject_context: bool,
    pub(crate) ui: PageSettings,
    /// Maximum number of open connections of the listener.
    pub(crate) max_connections: usize,
    /// Maximum time for the body of a request.
    pub(crate) body_timeout: Duration,
    /// Maximum memory for messages that wait and for tool lists.
    pub(crate) max_waiting_bytes: usize,
    pub(crate) processor: ProcessorSettings,
}

/// Settings of the page over recordings that a listening gateway serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PageSettings {
    /// Loopback address of the page; `None` for no page.
    pub(crate) listen: Option<String>,
    /// The directory of the recordings that it shows; `None` for the one that is recorded to.
    pub(crate) directory: Option<PathBuf>,
}

/// Settings of the external processor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ProcessorSettings {
    /// Environment variable with the secret of requests to a `learn_url`.
    pub(crate) learn_secret_env: Option<String>,
    /// Certificate chain of the processor.
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key.
    pub(crate) tls_key: Option<PathBuf>,
    /// Authority of the certificates that clients must have.
    pub(crate) client_ca: Option<PathBuf>,
}

/// Settings of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordSettings {
    /// The directory of the files; `None` to record nothing.
    pub(crate) directory: Option<PathBuf>,
    /// Size at which a file is rotated.
    pub(crate) rotate_bytes: u64,
    /// Age at which files are deleted.
    pub(crate) max_age: Duration,
    /// Total size beyond which the oldest files are deleted.
    pub(crate) max_bytes: u64,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            directory: None,
            rotate_bytes: 64 << 20,
            max_age: Duration::from_secs(7 * 24 * 3600),
            max_bytes: 1 << 30,
        }
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            listen: None,
            admin_listen: None,
            path: "/mcp".to_owned(),
            origins: Vec::new(),
            token_env: None,
            log: LogSettings::default(),
            schemas: Vec::new(),
            summary: SummaryFormat::default(),
            record: RecordSettings::default(),
            otel_endpoint: None,
            otel_inject_context: false,
            ui: PageSettings::default(),
            max_connections: 10_000,
            body_timeout: Duration::from_secs(60),
            max_waiting_bytes: 256 << 20,
            processor: ProcessorSettings::default(),
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
    /// The mode, which sets the defaults of what `chosen` does not contain.
    pub(crate) mode: Mode,
    pub(crate) chosen: Chosen,
    /// Which values of its messages are recorded.
    pub(crate) record_values: RecordValues,
    /// Request headers that say nothing about the identity of a client, besides the built-in ones.
    pub(crate) neutral_headers: Vec<String>,
    /// URL at which the external processor lists the tools.
    pub(crate) learn_url: Option<String>,
    /// Without what the mode decides: see [`validation`](Self::validation).
    pub(super) validation: ValidationConfig,
    pub(super) connection: ConnectionSettings,
}

/// Explicit settings that take precedence over the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Chosen {
    pub(crate) unknown_fields: Option<UnknownFields>,
    pub(crate) repair: Option<Repair>,
    pub(crate) enhance_errors: Option<bool>,
    pub(crate) announce: Option<bool>,
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
            mode: Mode::default(),
            chosen: Chosen::default(),
            record_values: RecordValues::default(),
            neutral_headers: Vec::new(),
            learn_url: None,
            validation: ValidationConfig::default(),
            connection: ConnectionSettings::default(),
        }
    }
}

impl ServerSettings {
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = if self.strict { Policy::strict() } else { Policy::in_mode(self.mode) };
        policy.answer = self.answer;
        policy.repeat_limit = self.retry_limit;
        let exceptions = self.exceptions.iter();
        exceptions.fold(policy, |policy, (side, rule, action)| policy.with(*side, *rule, *action))
    }

    /// Returns the configuration of the validation in the mode.
    pub(crate) fn validation(&self) -> ValidationConfig {
        let of_mode = ValidationConfig::in_mode(self.mode);
        let chosen = self.chosen;
        let mut config = self.validation.clone();
        config.unknown_fields = chosen.unknown_fields.unwrap_or(of_mode.unknown_fields);
        config.repair = chosen.repair.unwrap_or(of_mode.repair);
        config.enhance_errors = chosen.enhance_errors.unwrap_or(of_mode.enhance_errors);
        config
    }

    /// Returns the settings of a connection in the mode.
    pub(crate) fn connection(&self) -> ConnectionSettings {
        let mut settings = self.connection.clone();
        settings.announce = self.chosen.announce.unwrap_or(self.mode != Mode::Observe);
        settings
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
