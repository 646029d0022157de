//! The options of `call`.

use clap::Args;

use super::{CheckOptions, Format, LogOptions};

#[derive(Debug, Args)]
#[command(after_help = CALL_EXAMPLES)]
pub(crate) struct CallOptions {
    /// The tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Arguments, each of the type that the tool's schema gives it: text stays text, numbers,
    /// booleans, arrays and objects are read as JSON
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<String>,

    /// The arguments as JSON; those given one by one are added to them
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// The environment variable with the token that the server at the URL wants to see
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_token_env: Option<String>,

    /// How the outcome is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Seconds that the server may take for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,

    #[command(flatten)]
    pub(crate) log: LogOptions,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,

    /// The server's command
    #[arg(last = true, value_name = "CMD", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

const CALL_EXAMPLES: &str = "\
Examples:
  stickler call read_file path=notes.txt -- npx -y @modelcontextprotocol/server-filesystem .
  stickler call search query=rust limit=5 --url https://example.com/mcp
  stickler call edit --args '{\"path\":\"a\"}' --format json -- ./my-server

Exit codes:
  0  the tool gave its result, which is printed
  1  the call was refused and not made, the tool failed, or its result breaks its outputSchema
  2  the command line is wrong
  3  the server cannot be started or reached, or went away, or did not answer";
