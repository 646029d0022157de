//! Options of `stickler run` that say what is recorded and summarized.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ObserveOptions {
    /// Directory to record every message in, with its verdict; one file per session, which `audit` reads
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,

    /// Which argument and result values to record [default: redacted]
    #[arg(long, value_enum, value_name = "VALUES")]
    pub(crate) record_values: Option<RecordValues>,

    /// Summary of the calls on standard error, at exit and on SIGUSR1 [default: auto]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) summary: Option<SummaryFormat>,
}

/// Values in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum RecordValues {
    /// All except those under names of credentials, such as `password` or `apiKey`
    #[default]
    Redacted,
    /// No values of arguments and results
    None,
    /// All
    Full,
}

/// Form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// In the format of the log, if there was a call; at exit only from the log level `warn` on
    #[default]
    Auto,
    /// A table, if there was a call
    Text,
    /// One JSON object
    Json,
    /// No summary
    Off,
}
