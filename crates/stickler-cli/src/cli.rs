//! The command line, from which help, completions and documentation are made.

#[cfg(feature = "audit")]
mod audit;
#[cfg(feature = "call")]
mod call;
mod checks;
mod choices;
mod log;
mod lookup;
#[cfg(test)]
mod page;
mod run;
mod validate;
mod wrap;

use clap::{Parser, Subcommand, ValueEnum};

#[cfg(feature = "audit")]
pub(crate) use self::audit::{AuditOptions, Deny};
#[cfg(feature = "call")]
pub(crate) use self::call::CallOptions;
pub(crate) use self::checks::{Answer, CheckOptions, Help, Repair, UnknownFields};
pub(crate) use self::choices::RestartWhen;
pub(crate) use self::log::LogOptions;
pub(crate) use self::lookup::{CompletionsOptions, ExplainOptions, SchemaOptions};
pub(crate) use self::run::{HttpOptions, RunOptions};
pub(crate) use self::validate::ValidateOptions;
pub(crate) use self::wrap::WrapOptions;
#[cfg(not(feature = "audit"))]
use crate::commands::absent::AbsentOptions as AuditOptions;
#[cfg(not(feature = "call"))]
use crate::commands::absent::AbsentOptions as CallOptions;
#[cfg(not(feature = "demo"))]
use crate::commands::absent::AbsentOptions as DemoOptions;
#[cfg(not(feature = "serve"))]
use crate::commands::absent::AbsentOptions as ServeOptions;
use crate::commands::check::CheckOptions as ServerCheckOptions;
#[cfg(feature = "demo")]
use crate::commands::demo::DemoOptions;
#[cfg(feature = "serve")]
use crate::commands::serve::ServeOptions;
use crate::exit::Exit;

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

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
