//! The options of `audit`.

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

    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) protocol: ProtocolOptions,

    /// Who sent raw messages; without it that is worked out for each
    #[arg(long, value_enum, value_name = "DIR")]
    pub(crate) direction: Option<Direction>,

    /// What to do with fields that a tool's schema neither lists nor forbids
    #[arg(long, value_enum, default_value_t = UnknownFields::Reject)]
    pub(crate) unknown_fields: UnknownFields,

    /// What else than errors makes the exit code 1
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) deny: Option<Deny>,

    /// Show every finding, not only the first few of each rule and file
    #[arg(long)]
    pub(crate) all: bool,

    /// Show argument values in findings; without it they are masked
    #[arg(long)]
    pub(crate) show_values: bool,
}

/// Which way messages went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// Client to server
    C2s,
    /// Server to client
    S2c,
}

/// What counts as bad beside errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Warnings too
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
