//! Options of `validate`.

use std::path::PathBuf;

use clap::Args;

use super::{CheckOptions, Format};

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateOptions {
    /// Tool definitions: a `tools/list` result, a JSON-RPC response with one, or an array of tools
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// Calls to validate, one per line: `{"name":…,"arguments":…}` or `tools/call` requests;
    /// `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "args"])]
    pub(crate) calls: Option<PathBuf>,

    /// Tool of a single call
    #[arg(value_name = "TOOL", required_unless_present = "calls")]
    pub(crate) tool: Option<String>,

    /// Arguments of the single call as JSON [default: no arguments]
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,

    /// Output format of the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  stickler validate --tools tools.json write_file --args '{\"pth\":\"a.txt\",\"content\":\"hi\"}'
  stickler validate --tools tools.json --calls calls.ndjson --format json
  producer | stickler validate --tools tools.json --calls -";
