//! Options of `wrap` and `unwrap`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = WRAP_EXAMPLES)]
pub(crate) struct WrapOptions {
    /// Configuration file of a client: `.mcp.json`, `claude_desktop_config.json`,
    /// `.vscode/mcp.json`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Name of a server to change; can be repeated [default: all servers]
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Show the changes without writing the file
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const WRAP_EXAMPLES: &str = "\
Examples:
  stickler wrap .mcp.json
  stickler wrap --dry-run --only files .mcp.json
  stickler unwrap .mcp.json";
