//! The command line, from which help, completions and documentation are made.

mod call;
#[cfg(test)]
mod page;
mod run;
mod wrap;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stickler::Revision;

pub(crate) use self::call::CallOptions;
pub(crate) use self::run::{HttpOptions, RunOptions};
pub(crate) use self::wrap::WrapOptions;
use crate::commands::check::CheckOptions as ServerCheckOptions;
use crate::commands::demo::DemoOptions;
use crate::commands::serve::ServeOptions;
use crate::exit::Exit;
use crate::protocol_schema::ProtocolOptions;

/// Strict about the protocol, helpful about mistakes: validation for the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "stickler", version, after_help = Exit::TABLE, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check tool calls against tool definitions, and say how to correct them
    Validate(ValidateOptions),
    /// Check a server: its tool definitions, and how it answers calls and messages that are wrong
    Check(ServerCheckOptions),
    /// Check recorded sessions, message by message
    Audit(AuditOptions),
    /// Stand in front of a server: bad calls are answered with help, the server's faults are seen
    Run(Box<RunOptions>),
    /// Make one call of a server's tool, checked before it is made
    Call(CallOptions),
    /// Put Stickler in front of every server in a client's file
    Wrap(WrapOptions),
    /// Undo what `wrap` has done
    Unwrap(WrapOptions),
    /// Tell what a code or rule means, why it matters and how to mend it
    Explain(ExplainOptions),
    /// Print the protocol's own schema: a whole revision, or one definition of it
    Schema(SchemaOptions),
    /// Print completions for a shell
    Completions(CompletionsOptions),
    /// Serve a suite of tools that work in one folder: files, git, SQL, search, shell, schedules
    Serve(ServeOptions),
    /// See a bad call refused, explained and corrected by a real gateway; nothing to set up
    Demo(DemoOptions),
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs: one JSON object a line
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateOptions {
    /// Tool definitions: a `tools/list` result, a whole JSON-RPC response, or an array of tools
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// Calls to check, one a line: `{"name":…,"arguments":…}` or whole `tools/call` requests;
    /// `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "args"])]
    pub(crate) calls: Option<PathBuf>,

    /// The tool of a single call
    #[arg(value_name = "TOOL", required_unless_present = "calls")]
    pub(crate) tool: Option<String>,

    /// The arguments of the single call, as JSON; without it the call has none
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,

    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten, next_help_heading = "Checks")]
    pub(crate) checks: CheckOptions,
}

/// How calls are checked and explained.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// What to do with fields that a schema neither lists nor forbids [default: reject]
    #[arg(long, value_enum)]
    pub(crate) unknown_fields: Option<UnknownFields>,

    /// Whether to look for a corrected call, and whether a call that can be corrected beyond doubt
    /// counts as valid [default: suggest]
    #[arg(long, value_enum)]
    pub(crate) repair: Option<Repair>,

    /// How much the help prompt tells [default: brief]
    #[arg(long, value_enum)]
    pub(crate) help_detail: Option<Help>,

    /// How many edits apart two names may be for one to be suggested for the other [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) suggestion_distance: Option<usize>,

    /// Keep argument values out of everything that is printed; names and types stay
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) mask: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownFields {
    /// A schema that lists properties and is silent about others is closed
    Reject,
    /// As the schema says, to the letter
    FollowSchema,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repair {
    /// Do not look for a corrected call
    Off,
    /// Show the corrected call
    Suggest,
    /// Take the corrected call where the correction is beyond doubt
    Apply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Help {
    /// What fits into 500 tokens
    Brief,
    /// Everything, the schema included
    Full,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answer {
    /// A tool result with the help, which models get to see
    ToolResult,
    /// A JSON-RPC error
    JsonRpcError,
    /// A tool result whose text is a retry observation
    Observation,
}

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

const VALIDATE_EXAMPLES: &str = "\
Examples:
  stickler validate --tools tools.json write_file --args '{\"pth\":\"a.txt\",\"content\":\"hi\"}'
  stickler validate --tools tools.json --calls calls.ndjson --format json
  producer | stickler validate --tools tools.json --calls -";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  stickler schema CallToolResult
  stickler schema --revision 2025-06-18 Tool
  stickler schema --list";

const AUDIT_EXAMPLES: &str = "\
Examples:
  stickler audit session.ndjson
  stickler audit --format json recordings/*.ndjson.gz
  recorder | stickler audit --deny warning -";

impl From<UnknownFields> for stickler::UnknownFields {
    fn from(choice: UnknownFields) -> Self {
        match choice {
            UnknownFields::Reject => Self::Reject,
            UnknownFields::FollowSchema => Self::FollowSchema,
        }
    }
}

impl From<Direction> for stickler::Side {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::C2s => Self::Client,
            Direction::S2c => Self::Server,
        }
    }
}

impl From<Repair> for stickler::Repair {
    fn from(choice: Repair) -> Self {
        match choice {
            Repair::Off => Self::Off,
            Repair::Suggest => Self::Suggest,
            Repair::Apply => Self::Apply,
        }
    }
}

impl From<Help> for stickler::HelpDetail {
    fn from(choice: Help) -> Self {
        match choice {
            Help::Brief => Self::Brief,
            Help::Full => Self::Full,
        }
    }
}

impl From<Answer> for stickler::AnswerForm {
    fn from(choice: Answer) -> Self {
        match choice {
            Answer::ToolResult => Self::ToolResult,
            Answer::JsonRpcError => Self::JsonRpcError,
            Answer::Observation => Self::Observation,
        }
    }
}

impl CheckOptions {
    /// Changes what was chosen on the command line.
    pub(crate) fn apply(&self, config: &mut stickler::ValidationConfig) {
        if let Some(choice) = self.unknown_fields {
            config.unknown_fields = choice.into();
        }
        if let Some(choice) = self.repair {
            config.repair = choice.into();
        }
        if let Some(choice) = self.help_detail {
            config.help = choice.into();
        }
        if let Some(distance) = self.suggestion_distance {
            config.suggestion_distance = distance;
        }
        if let Some(mask) = self.mask {
            config.mask_values = mask;
        }
    }
}

impl From<&CheckOptions> for stickler::ValidationConfig {
    fn from(options: &CheckOptions) -> Self {
        let mut config = Self::default();
        options.apply(&mut config);
        config
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
