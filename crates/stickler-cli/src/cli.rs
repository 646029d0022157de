//! The command line, from which help, completions and documentation are made.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stickler::Revision;

use crate::commands::demo::DemoOptions;
use crate::commands::serve::ServeOptions;
use crate::exit::Exit;
use crate::gateway::Level;
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
    /// Check recorded sessions, message by message
    Audit(AuditOptions),
    /// Stand in front of a server: bad calls are answered with help, the server's faults are seen
    Run(RunOptions),
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

    #[command(flatten)]
    pub(crate) checks: CheckOptions,
}

/// How calls are checked and explained.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// What to do with fields that a schema neither lists nor forbids
    #[arg(long, value_enum, default_value_t = UnknownFields::Reject)]
    pub(crate) unknown_fields: UnknownFields,

    /// Whether to look for a corrected call, and whether a call that can be corrected beyond doubt
    /// counts as valid
    #[arg(long, value_enum, default_value_t = Repair::Suggest)]
    pub(crate) repair: Repair,

    /// How much the help prompt tells
    #[arg(long, value_enum, default_value_t = Help::Brief)]
    pub(crate) help_detail: Help,

    /// How many edits apart two names may be for one to be suggested for the other
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) suggestion_distance: usize,

    /// Keep argument values out of everything that is printed; names and types stay
    #[arg(long)]
    pub(crate) mask: bool,
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

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunOptions {
    /// What refused calls are answered with
    #[arg(long, value_enum, default_value_t = Answer::ToolResult)]
    pub(crate) answer: Answer,

    /// Refuse whatever is not right, the server's messages included
    #[arg(long)]
    pub(crate) strict: bool,

    /// Do not announce and serve `toolValidation`
    #[arg(long)]
    pub(crate) quiet_capability: bool,

    /// What the server is called in messages; by default its program or package
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// How much is told on standard error
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    pub(crate) log: Level,

    /// Seconds that a server has to end by itself before it is told to, and then made to
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) grace: u64,

    #[command(flatten)]
    pub(crate) http: HttpOptions,

    #[command(flatten)]
    pub(crate) checks: CheckOptions,

    /// The server's command
    #[arg(last = true, value_name = "CMD", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

/// Clients and servers that are reached by HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpOptions {
    /// Serve clients by Streamable HTTP at this address, at `/mcp`; without it they come by
    /// standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// The server's URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// An origin that browsers may come from, beside those of this machine; can be repeated
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,

    /// The environment variable with the token that clients must show
    #[arg(long, value_name = "VARIABLE", requires = "listen")]
    pub(crate) bearer_token_env: Option<String>,

    /// Seconds after which a session that nobody uses is closed
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    pub(crate) idle_timeout: u64,

    /// How many server processes there may be at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) max_children: usize,
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

const RUN_EXAMPLES: &str = "\
Examples:
  stickler run -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler run --strict --log info -- uvx mcp-server-git
  stickler run --listen 127.0.0.1:8787 -- npx -y @modelcontextprotocol/server-everything
  stickler run --listen 127.0.0.1:8787 --url https://example.com/mcp
  stickler run --url https://example.com/mcp";

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

impl From<&CheckOptions> for stickler::ValidationConfig {
    fn from(options: &CheckOptions) -> Self {
        let mut config = Self::default();
        config.unknown_fields = options.unknown_fields.into();
        config.repair = match options.repair {
            Repair::Off => stickler::Repair::Off,
            Repair::Suggest => stickler::Repair::Suggest,
            Repair::Apply => stickler::Repair::Apply,
        };
        config.help = match options.help_detail {
            Help::Brief => stickler::HelpDetail::Brief,
            Help::Full => stickler::HelpDetail::Full,
        };
        config.suggestion_distance = options.suggestion_distance;
        config.mask_values = options.mask;
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
