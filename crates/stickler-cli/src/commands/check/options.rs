//! Options of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stickler::{Revision, Severity};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct CheckOptions {
    /// Tool definitions to check without a server: a `tools/list` result, a JSON-RPC response with one,
    /// or an array of tools
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command"])]
    pub(crate) tools: Option<PathBuf>,

    /// URL of the server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// Environment variable with the bearer token for the server at the URL
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_token_env: Option<String>,

    /// Output format of the findings
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,

    /// Write the report to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// File of the repository that SARIF results about a running server refer to: code scanning shows a
    /// result at a file [default: the manifest in the current folder, such as `package.json`]
    #[arg(long, value_name = "FILE", conflicts_with = "tools")]
    pub(crate) artifact: Option<PathBuf>,

    /// Report only findings of this rule; can be repeated or separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) rule: Vec<String>,

    /// Do not report findings of this rule; can be repeated or separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,

    /// Print only findings that set exit code 1, and no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Lowest severity that sets exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = Level::Error)]
    pub(crate) deny: Level,

    /// Baseline file: findings in it are neither reported nor counted
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Replace the contents of the baseline with the findings of this run
    #[arg(long, requires = "baseline")]
    pub(crate) write_baseline: bool,

    /// Only list the tools; send no invalid calls or messages
    #[arg(long)]
    pub(crate) no_probe: bool,

    /// Maximum number of tools to probe
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) probe_limit: usize,

    /// Maximum time in seconds for each response and for the shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// Maximum time in seconds for the server to start and to list its tools, including its installation
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) start_timeout: u64,

    /// Revision of MCP to use [default: the newest that the server supports]
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Show every finding instead of the first few per rule and tool
    #[arg(long)]
    pub(crate) all: bool,

    /// Command of the server
    #[arg(trailing_var_arg = true, value_name = "CMD", required_unless_present_any = ["url", "tools"])]
    pub(crate) command: Vec<String>,
}

/// Output format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Human-readable text
    Text,
    /// One JSON object per line, the summary last
    Json,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// JUnit XML for CI
    Junit,
}

/// Severity threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Errors only
    Error,
    /// Errors and warnings
    Warning,
    /// All findings
    Note,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warning => Self::Warning,
            Level::Note => Self::Note,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  stickler check -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler check --url https://example.com/mcp --no-probe
  stickler check --format sarif -o stickler.sarif -- ./my-server
  stickler check --tools tools.json --ignore no-example,long-name
  stickler check --deny warning --baseline known.json -- ./my-server";
