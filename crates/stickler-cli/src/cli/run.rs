//! The options of `stickler run`. Each is the last word about a setting that `stickler.toml` or the
//! environment may have named before, so none has a default here.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Answer, CheckOptions, LogOptions, RestartWhen};
use crate::config::{pause, seconds};
use crate::protocol_schema::SchemaSource;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunOptions {
    /// Settings and servers from a file: `stickler.toml`, or the file that a client keeps its
    /// servers in (`.mcp.json`, `claude_desktop_config.json`, `.vscode/mcp.json`)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Which server of the file to run; with `--listen` it can be repeated, and all are run without
    /// it
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with_all = ["command", "url"])]
    pub(crate) server: Vec<String>,

    /// What refused calls are answered with [default: tool-result]
    #[arg(long, value_enum)]
    pub(crate) answer: Option<Answer>,

    /// Refuse whatever is not right, the server's messages included
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) strict: Option<bool>,

    /// Do not announce and serve `toolValidation`
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) quiet_capability: Option<bool>,

    /// What the server is called in messages; by default its program or package
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    /// Seconds that a server has to end by itself before it is told to, and then made to
    /// [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) grace: Option<Duration>,

    /// Seconds after which a request without an answer gets an error; 0 for never [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) request_timeout: Option<Duration>,

    /// When a server whose process has ended is started again [default: never]
    #[arg(long, value_enum)]
    pub(crate) restart: Option<RestartWhen>,

    /// Read a revision by an official schema file in place of the built-in definitions: a path or
    /// a URL, loaded once at start-up; can be given once for each revision
    #[arg(long, value_name = "REVISION=FILE")]
    pub(crate) protocol_schema: Vec<SchemaSource>,

    #[command(flatten, next_help_heading = "HTTP")]
    pub(crate) http: HttpOptions,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,

    /// The server's command, after `--`. Where something on the way takes the `--` out, as the
    /// inspector does, the command begins with the first word that is no option
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

/// Clients and servers that are reached by HTTP.
#[derive(Debug, Args)]
pub(crate) struct HttpOptions {
    /// Serve clients by Streamable HTTP at this address, at `/mcp`; without it they come by
    /// standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Where on that address the server is [default: /mcp]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// A header for the server at `--url`, its value in the environment variable of that name, or
    /// of another one (`NAME=VARIABLE`); can be repeated
    #[arg(long, value_name = "NAME", requires = "url")]
    pub(crate) header_env: Vec<String>,

    /// What a client's file called the transport before `wrap`, for `unwrap`
    #[arg(long, value_name = "TYPE", hide = true)]
    pub(crate) wrapped_type: Option<String>,

    /// An origin that browsers may come from, beside those of this machine; can be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// The environment variable with the token that clients must show
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_token_env: Option<String>,

    /// Seconds after which a session that nobody uses is closed [default: 1800]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Seconds after which a quiet stream says that it is still there [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = pause)]
    pub(crate) keep_alive: Option<Duration>,

    /// How many processes of a server there may be at once [default: 64]
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
  stickler run --config stickler.toml
  stickler run --config .mcp.json --server files";
