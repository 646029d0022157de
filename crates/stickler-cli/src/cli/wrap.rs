//! The options of `wrap` and `unwrap`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = WRAP_EXAMPLES)]
pub(crate) struct WrapOptions {
    /// The file that a client keeps its servers in: `.mcp.json`, `claude_desktop_config.json`,
    /// `.vscode/mcp.json`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Only the server with this name; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const WRAP_EXAMPLES: &str = "\
Examples:
  stickler wrap .mcp.json
  stickler wrap --dry-run --only files .mcp.json
  stickler unwrap .mcp.json";
