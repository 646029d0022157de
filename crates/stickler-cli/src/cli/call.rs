//! Options of `call`.

use clap::Args;

use super::{CheckOptions, Format, LogOptions};

#[derive(Debug, Args)]
#[command(after_help = CALL_EXAMPLES)]
pub(crate) struct CallOptions {
    /// Name of the tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Arguments. The tool's schema determines the type: strings are taken literally, numbers, booleans,
    /// arrays and objects are parsed as JSON
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,

    /// Arguments as a JSON object; `KEY=VALUE` arguments are added to it
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,

    /// URL of the server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// Environment variable with the bearer token for the server at the URL
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_token_env: Option<String>,

    /// Output format of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Maximum time in seconds to wait for a response
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,

    /// Command of the server
    #[arg(last = true, value_name = "CMD", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

const CALL_EXAMPLES: &str = "\
Examples:
  stickler call read_file path=notes.txt -- npx -y @modelcontextprotocol/server-filesystem .
  stickler call search query=rust limit=5 --url https://example.com/mcp
  stickler call edit --args '{\"path\":\"a\"}' --format json -- ./my-server

Exit codes:
  0  the tool returned a result, which is printed
  1  the call was rejected and not sent, the tool failed, or its result violates its outputSchema
  2  invalid usage
  3  the server cannot be started or reached, exited, or did not respond";
