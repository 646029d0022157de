//! Log options.

use clap::Args;

use crate::logging::{LogFormat, LogLevel};

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LogOptions {
    /// Log level on standard error [default: warn]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) log: Option<LogLevel>,

    /// Format of log lines [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}
