//! Options of `audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, UnknownFields};
use crate::protocol_schema::ProtocolOptions;

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditOptions {
    /// Recordings, each of one session: lines that are raw messages or
    /// `{"dir":"c2s"|"s2c","msg":"<raw>"}`; plain, gzip or zstd; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Show the recordings in the browser instead of printing findings, as `ui` does
    #[cfg(feature = "ui")]
    #[arg(long)]
    pub(crate) open: bool,

    /// Output format of the findings
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) protocol: ProtocolOptions,

    /// Direction of raw messages [default: detected for each message]
    #[arg(long, value_enum, value_name = "DIR")]
    pub(crate) direction: Option<Direction>,

    /// How to treat fields that a tool's schema neither lists nor forbids [default: as in the recorded mode, else reject]
    #[arg(long, value_enum)]
    pub(crate) unknown_fields: Option<UnknownFields>,

    /// Lowest severity, besides errors, that sets exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) deny: Option<Deny>,

    /// Show every finding instead of the first few per rule and file
    #[arg(long)]
    pub(crate) all: bool,

    /// Show argument values in findings instead of masking them
    #[arg(long)]
    pub(crate) show_values: bool,
}

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// Client to server
    C2s,
    /// Server to client
    S2c,
}

/// Severities that can set the exit code besides errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Warnings
    Warning,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  stickler audit session.ndjson
  stickler audit --format json recordings/*.ndjson.gz
  recorder | stickler audit --deny warning -";

impl From<Direction> for stickler_protocol::Side {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::C2s => Self::Client,
            Direction::S2c => Self::Server,
        }
    }
}
