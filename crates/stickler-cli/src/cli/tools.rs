//! Options of `tools`.

use std::path::PathBuf;

use clap::Args;
use stickler::Revision;

use super::Format;

#[derive(Debug, Args)]
#[command(after_help = TOOLS_EXAMPLES)]
pub(crate) struct ToolsOptions {
    /// URL of the server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// Environment variable with the bearer token for the server at the URL
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_token_env: Option<String>,

    /// Output format. JSON is one object with the definitions as the server sent them, as `validate` and
    /// `check` read it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Save the definitions to this file as indented JSON instead of printing them
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Maximum time in seconds for the server to start and to list its tools, including its installation
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) start_timeout: u64,

    /// Revision of MCP to use [default: the newest that the server supports]
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<Revision>,

    /// Command of the server
    #[arg(trailing_var_arg = true, value_name = "CMD", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  stickler tools -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler tools -o tools.json -- ./my-server
  stickler tools --url https://example.com/mcp --format json | jq -r '.tools[].name'";
