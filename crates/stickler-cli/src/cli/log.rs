//! The options of commands that log.

use clap::Args;

use crate::logging::{LogFormat, LogLevel};

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LogOptions {
    /// How much is logged to standard error [default: warn]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) log: Option<LogLevel>,

    /// How log lines are written [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}
