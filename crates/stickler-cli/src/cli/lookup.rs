//! The options of the commands that tell what there is: `explain`, `schema` and `completions`.

use clap::Args;
use stickler::Revision;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    /// A code such as `STK-107` or a rule such as `unknown_field`; without it all are listed
    #[arg(value_name = "CODE")]
    pub(crate) id: Option<String>,

    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaOptions {
    /// A definition such as `CallToolRequest`; without it the whole schema is printed
    #[arg(value_name = "DEFINITION", conflicts_with = "list")]
    pub(crate) definition: Option<String>,

    /// The revision of MCP
    #[arg(long, value_name = "REVISION", default_value_t = Revision::LATEST)]
    pub(crate) revision: Revision,

    /// Print the names of the definitions only
    #[arg(long)]
    pub(crate) list: bool,

    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  stickler schema CallToolResult
  stickler schema --revision 2025-06-18 Tool
  stickler schema --list";
