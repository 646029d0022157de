//! Options of the reference commands `explain`, `schema`, `completions` and `man`.

use clap::Args;
use stickler::Revision;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Code such as `STK-107` or rule such as `unknown_field`; lists all if omitted
    #[arg(value_name = "CODE")]
    pub(crate) id: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaOptions {
    /// Definition such as `CallToolRequest`; prints the whole schema if omitted
    #[arg(value_name = "DEFINITION", conflicts_with = "list")]
    pub(crate) definition: Option<String>,

    /// Revision of MCP
    #[arg(long, value_name = "REVISION", default_value_t = Revision::LATEST)]
    pub(crate) revision: Revision,

    /// Print only the names of the definitions
    #[arg(long)]
    pub(crate) list: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManOptions {
    /// Command such as `run`; the page of the program if omitted
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  stickler man | man -l -
  stickler man run > stickler-run.1";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  stickler schema CallToolResult
  stickler schema --revision 2025-06-18 Tool
  stickler schema --list";
