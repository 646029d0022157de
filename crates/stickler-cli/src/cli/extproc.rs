//! Options of `stickler extproc`. They override `stickler.toml` and the environment, so none has a default value here.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{LogOptions, Mode, ObserveOptions};
use crate::config::seconds;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExtprocOptions {
    /// Address to serve Envoy at over gRPC [default: 127.0.0.1:50051]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Configuration file with settings: `stickler.toml`. A route of Envoy selects `[servers.NAME]`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// How much to intervene [default: enforce]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// URL at which the processor lists the tools of the server itself, with the headers of the client's request.
    /// Without it, tools are learned only from responses that pass
    #[arg(long, value_name = "URL")]
    pub(crate) learn_url: Option<String>,

    /// Environment variable with the secret that marks requests to the `learn_url`, so that they are not checked. All
    /// replicas need the same
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) learn_secret_env: Option<String>,

    /// Maximum age in seconds of a tool list that rejects a call [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) fresh_enough: Option<Duration>,

    /// Address for operators: `/healthz`, `/readyz` and `/metrics`
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,

    /// Certificate chain of the processor, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Private key of the processor, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Certificate authority that must have signed the certificate of Envoy, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Time in seconds for exchanges in progress at shutdown [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) grace: Option<Duration>,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    #[command(flatten, next_help_heading = "Observability")]
    pub(crate) observe: ObserveOptions,
}

const EXAMPLES: &str = "\
Examples:
  stickler extproc
  stickler extproc --listen 0.0.0.0:50051 --learn-url http://envoy:10000/mcp --learn-secret-env LEARN_SECRET
  stickler extproc --listen 0.0.0.0:50051 --config stickler.toml --admin-listen 0.0.0.0:9090";
