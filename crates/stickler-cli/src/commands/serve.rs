//! `stickler serve`: runs a reference server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stickler_reference::{Answers, Permissions, Workspace, over_http, over_stdio};

use crate::cli::{Answer, LogOptions, Mode};
use crate::exit::{Exit, Failure, Outcome};
use crate::{config, logging};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeOptions {
    /// Tool suite to serve
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) suite: Suite,

    /// Folder that the tools are confined to
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,

    /// Address to serve at over Streamable HTTP, at `/mcp` [default: standard input and output]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Allow tools to run programs: the shell, tests, package managers
    #[arg(long)]
    pub(crate) allow_shell: bool,

    /// Allow tools to modify databases
    #[arg(long)]
    pub(crate) allow_sql_writes: bool,

    /// Test command and its arguments, separated by spaces [default: detected from the files in the root]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) test_command: Option<String>,

    /// Form of the response to a rejected call
    #[arg(long, value_enum, default_value_t = Answer::ToolResult)]
    pub(crate) answer: Answer,

    /// How much to intervene
    #[arg(long, value_enum, default_value_t = Mode::Assist)]
    pub(crate) mode: Mode,

    #[command(flatten)]
    pub(crate) log: LogOptions,
}

/// Suite of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Files, tests, a database and commits
    Files,
    /// Context, memory, gates and directives of a project with several agents
    Orchestrator,
    /// Files, edits, search, shell, dependencies and git
    Sandbox,
    /// State, tests, database, traces and logs
    Project,
    /// Scheduled jobs that call tools of the other suites
    Scheduler,
}

impl From<Suite> for stickler_reference::Suite {
    fn from(suite: Suite) -> Self {
        match suite {
            Suite::Files => Self::Files,
            Suite::Orchestrator => Self::Orchestrator,
            Suite::Sandbox => Self::Sandbox,
            Suite::Project => Self::Project,
            Suite::Scheduler => Self::Scheduler,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  stickler serve --suite sandbox --root .
  stickler serve --suite project --root . --allow-shell --listen 127.0.0.1:8800
  stickler run -- stickler serve --suite files --root .";

pub(crate) fn run(options: &ServeOptions) -> Outcome {
    logging::install(config::log_settings(options.log)?)?;
    let words = options.test_command.as_deref().unwrap_or_default().split_whitespace();
    let permissions = Permissions {
        shell: options.allow_shell,
        sql_writes: options.allow_sql_writes,
        test_command: words.map(str::to_owned).collect(),
    };
    let workspace = Workspace::open(&options.root, permissions).map_err(|error| {
        let root = options.root.display();
        Failure::Usage(format!("cannot use the root `{root}`: {error}"))
    })?;
    let answers = Answers { mode: options.mode.into(), form: options.answer.into() };
    let served = match &options.listen {
        Some(listen) => over_http(options.suite.into(), workspace, answers, listen),
        None => over_stdio(options.suite.into(), workspace, answers),
    };
    served.map_err(|error| {
        let place = options.listen.as_deref().unwrap_or("standard input and output");
        Failure::Unreachable(format!("[STK-101] cannot serve on {place}: {error}"))
    })?;
    Ok(Exit::Success)
}
