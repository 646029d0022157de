//! Options of `wrap` and `unwrap`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, Mode};

#[derive(Debug, Args)]
#[command(after_help = WRAP_EXAMPLES)]
pub(crate) struct WrapOptions {
    /// Configuration file of a client: JSON (with comments), TOML (Codex) or YAML (Continue) [default: the
    /// files of all clients on this machine and in the current folder, after confirmation]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Name of a server to wrap; can be repeated [default: all servers, except remote ones that may need the
    /// client's sign-in]
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// How much the gateway intervenes
    #[arg(long, value_enum, default_value_t = Mode::Assist)]
    pub(crate) mode: Mode,

    /// Folder in which the gateway records the sessions
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,

    /// Show the changes without writing the files
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// List the servers and whether they are wrapped
    #[arg(long, conflicts_with_all = ["only", "record", "dry_run", "yes", "gateway_options"])]
    pub(crate) status: bool,

    /// Output format of `--status`
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "status")]
    pub(crate) format: Format,

    /// Further options of `run` for the wrapped servers, after `--`
    #[arg(last = true, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) gateway_options: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = UNWRAP_EXAMPLES)]
pub(crate) struct UnwrapOptions {
    /// Configuration file of a client [default: the files of all clients on this machine and in the current
    /// folder, after confirmation]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Name of a server to unwrap; can be repeated [default: all servers]
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Show the changes without writing the files
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

const WRAP_EXAMPLES: &str = "\
Examples:
  stickler wrap
  stickler wrap --status
  stickler wrap .mcp.json
  stickler wrap --dry-run --only files ~/.codex/config.toml
  stickler wrap --mode observe --record ~/sessions .vscode/mcp.json
  stickler wrap .mcp.json -- --log info";

const UNWRAP_EXAMPLES: &str = "\
Examples:
  stickler unwrap
  stickler unwrap --only files .mcp.json";
