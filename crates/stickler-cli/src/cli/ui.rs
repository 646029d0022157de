//! Options of `ui`.

use std::path::PathBuf;

use clap::Args;

use super::LogOptions;

#[derive(Debug, Args)]
#[command(after_help = UI_EXAMPLES)]
pub(crate) struct UiOptions {
    /// Directory with recordings, or one recording [default: ~/.local/state/stickler]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Loopback address to serve the page at; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,

    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// Configuration file with the servers that the page may send calls to: `stickler.toml`, or the
    /// configuration file of a client
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) log: LogOptions,
}

const UI_EXAMPLES: &str = "\
The first line on standard output is the address of the page. It contains a token; without it, every request is rejected.

Examples:
  stickler ui --open
  stickler ui recordings --listen 127.0.0.1:8789
  stickler ui --config .mcp.json";
