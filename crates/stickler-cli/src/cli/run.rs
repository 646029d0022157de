//! Options of `stickler run`. They override `stickler.toml` and the environment, so none has a default value
//! here.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Answer, CheckOptions, LogOptions, Mode, ObserveOptions, RestartWhen};
use crate::config::{positive_seconds, seconds};
use crate::protocol_schema::SchemaSource;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunOptions {
    /// Configuration file with settings and servers: `stickler.toml`, or the configuration file of a
    /// client (`.mcp.json`, `claude_desktop_config.json`, `.vscode/mcp.json`)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Server of the file to run. With `--listen` the option can be repeated, and the default is all
    /// servers
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with_all = ["command", "url"])]
    pub(crate) server: Vec<String>,

    /// How much to intervene [default: enforce]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Form of the response to a rejected call [default: tool-result]
    #[arg(long, value_enum)]
    pub(crate) answer: Option<Answer>,

    /// Reject every invalid message, including messages from the server
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) strict: Option<bool>,

    /// Do not announce and serve `toolValidation`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) quiet_capability: Option<bool>,

    /// Name of the server in messages and logs [default: name of its program or package]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    /// Grace period in seconds before SIGTERM, then again before SIGKILL [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) grace: Option<Duration>,

    /// Maximum time in seconds to wait for a response; 0 waits without limit [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) request_timeout: Option<Duration>,

    /// When to restart a server process that has exited [default: never]
    #[arg(long, value_enum)]
    pub(crate) restart: Option<RestartWhen>,

    /// Official schema file, a path or URL, that replaces the built-in definitions of a revision. Loaded
    /// once at startup; can be given once per revision
    #[arg(long, value_name = "REVISION=FILE")]
    pub(crate) protocol_schema: Vec<SchemaSource>,

    #[command(flatten, next_help_heading = "Observability")]
    pub(crate) observe: ObserveOptions,

    #[command(flatten, next_help_heading = "HTTP")]
    pub(crate) http: HttpOptions,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,

    /// Command of the server, after `--`. If another program removes the `--`, as the MCP Inspector does,
    /// the command begins at the first word that is not an option
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

/// Options for HTTP clients and servers.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Address to serve clients at over Streamable HTTP [default: standard input and output]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Address for operators: `/healthz`, `/readyz` and `/metrics`. Without it, they are at the address of `--listen`
    /// if that is a loopback address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,

    /// Reload the file of `--config` when it changes, as on SIGHUP; requires `--listen`
    #[arg(long, requires = "config")]
    pub(crate) watch: bool,

    /// HTTP path of the server [default: /mcp]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,

    /// URL of the server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// Header to send to the server at `--url`. Its value is read from the environment variable of the
    /// same name, or from another one with `NAME=VARIABLE`; can be repeated
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) header_env: Vec<String>,

    /// Transport type in the client's configuration file before `wrap`, for `unwrap`
    #[arg(long, value_name = "TYPE", hide = true)]
    pub(crate) wrapped_type: Option<String>,

    /// Member with the URL in the client's configuration file before `wrap`, for `unwrap`
    #[arg(long, value_name = "KEY", hide = true)]
    pub(crate) wrapped_key: Option<String>,

    /// Allowed browser origin, in addition to those of this machine; can be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// Environment variable with the bearer token that clients must send
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_token_env: Option<String>,

    /// Time in seconds after which an idle session is closed [default: 1800]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Interval in seconds of keep-alive comments on an idle stream [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) keep_alive: Option<Duration>,

    /// Maximum number of processes for sessions, per server [default: 64]
    #[arg(long, value_name = "N")]
    pub(crate) max_children: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  stickler run -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler run --strict --log info -- uvx mcp-server-git
  stickler run --listen 127.0.0.1:8787 -- npx -y @modelcontextprotocol/server-everything
  stickler run --listen 127.0.0.1:8787 --url https://example.com/mcp
  stickler run --url https://example.com/mcp
  stickler run --mode observe --record ~/.local/state/stickler -- uvx mcp-server-git
  stickler run --config stickler.toml
  stickler run --config .mcp.json --server files";
