//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stickler::{Revision, Severity};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckOptions {
    /// Tool definitions to check without a server: a `tools/list` result, a whole JSON-RPC
    /// response, or an array of tools
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command"])]
    pub(crate) tools: Option<PathBuf>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// The environment variable with the token that the server behind the URL wants
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_token_env: Option<String>,

    /// How findings are printed
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,

    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = Level::Error)]
    pub(crate) deny: Level,

    /// Known findings, which are neither told nor counted
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings of this run to the baseline, in place of what is in it
    #[arg(long, requires = "baseline")]
    pub(crate) write_baseline: bool,

    /// Only ask for the tools; send nothing that is wrong
    #[arg(long)]
    pub(crate) no_probe: bool,

    /// How many tools are probed at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) probe_limit: usize,

    /// Seconds that the server has for each answer, and for ending
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// The revision of MCP to speak; by default the newest that the server agrees to
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Show every finding, not only the first few of each rule and tool
    #[arg(long)]
    pub(crate) all: bool,

    /// The server's command
    #[arg(last = true, value_name = "CMD", required_unless_present_any = ["url", "tools"])]
    pub(crate) command: Vec<String>,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people
    Text,
    /// For programs: one JSON object a line, the summary last
    Json,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For CI: JUnit XML
    Junit,
}

/// A severity as a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Errors only
    Error,
    /// Warnings too
    Warning,
    /// Everything
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
  stickler check --tools tools.json --format sarif > tools.sarif
  stickler check --deny warning --baseline known.json -- ./my-server";
