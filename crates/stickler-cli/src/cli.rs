//! Command line definition: the source of help texts, completions and docs/cli.md.

#[cfg(feature = "audit")]
mod audit;
#[cfg(feature = "call")]
mod call;
mod checks;
mod choices;
mod extproc;
mod log;
mod lookup;
mod observe;
#[cfg(test)]
mod page;
mod run;
mod tools;
#[cfg(feature = "ui")]
mod ui;
mod usage;
mod validate;
mod wrap;

use clap::{Parser, Subcommand, ValueEnum};

#[cfg(feature = "audit")]
pub(crate) use self::audit::{AuditOptions, Deny};
#[cfg(feature = "call")]
pub(crate) use self::call::CallOptions;
pub(crate) use self::checks::{Answer, CheckOptions, Formats, Help, Mode, Repair, UnknownFields};
pub(crate) use self::choices::RestartWhen;
pub(crate) use self::extproc::ExtprocOptions;
pub(crate) use self::log::LogOptions;
pub(crate) use self::lookup::{CompletionsOptions, ExplainOptions, ManOptions, SchemaOptions};
pub(crate) use self::observe::{ObserveOptions, RecordValues, SummaryFormat};
pub(crate) use self::run::{HttpOptions, RunOptions};
pub(crate) use self::tools::ToolsOptions;
#[cfg(feature = "ui")]
pub(crate) use self::ui::UiOptions;
pub(crate) use self::usage::parse;
pub(crate) use self::validate::ValidateOptions;
pub(crate) use self::wrap::{UnwrapOptions, WrapOptions};
#[cfg(not(feature = "audit"))]
use crate::commands::absent::AbsentOptions as AuditOptions;
#[cfg(not(feature = "call"))]
use crate::commands::absent::AbsentOptions as CallOptions;
#[cfg(not(feature = "demo"))]
use crate::commands::absent::AbsentOptions as DemoOptions;
#[cfg(not(feature = "ui"))]
use crate::commands::absent::AbsentOptions as UiOptions;
#[cfg(not(feature = "serve"))]
use crate::commands::absent::{AbsentOptions as GateOptions, AbsentOptions as ServeOptions};
use crate::commands::check::CheckOptions as ServerCheckOptions;
#[cfg(feature = "demo")]
use crate::commands::demo::DemoOptions;
#[cfg(feature = "serve")]
use crate::commands::gate::GateOptions;
#[cfg(feature = "serve")]
use crate::commands::serve::ServeOptions;
use crate::exit::Exit;

/// Strict about the protocol, helpful about mistakes: validation for the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "stickler", version, after_help = Exit::TABLE)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a proxy in front of a server that validates every message and rejects invalid calls with help
    Run(Box<RunOptions>),
    /// Put Stickler in front of the servers of your clients, such as Claude Code, Cursor, VS Code or Codex
    Wrap(Box<WrapOptions>),
    /// Undo `wrap`
    Unwrap(UnwrapOptions),
    /// Check a server: its tool definitions and its responses to invalid calls and messages
    Check(ServerCheckOptions),
    /// List the tools of a server and what they cost a model, or save them for `validate` and `check`
    Tools(ToolsOptions),
    /// Validate and make one tool call
    Call(CallOptions),
    /// Validate tool calls against tool definitions and show how to correct them
    Validate(ValidateOptions),
    /// Validate recorded sessions, message by message
    Audit(AuditOptions),
    /// Show recorded sessions, live and past, in the browser
    Ui(UiOptions),
    /// Show an invalid call being rejected, explained and corrected by a real gateway
    Demo(DemoOptions),
    /// Run an external processor of Envoy that validates the messages between clients and servers
    Extproc(Box<ExtprocOptions>),
    /// Explain an error code or rule: what it means, why it matters and how to fix it
    Explain(ExplainOptions),
    /// Print the protocol schema of a revision, or one of its definitions
    Schema(SchemaOptions),
    /// Run a reference server: a suite of tools confined to one folder
    Serve(ServeOptions),
    /// Decide the gates of agents that wait for a person
    Gate(GateOptions),
    /// Print shell completions
    Completions(CompletionsOptions),
    /// Print a manual page, of all commands or of one
    Man(ManOptions),
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn command_line_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
