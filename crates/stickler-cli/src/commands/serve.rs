//! `stickler serve`: the reference servers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stickler::AnswerForm;
use stickler_reference::{Permissions, Workspace, over_http, over_stdio};

use crate::cli::{Answer, LogOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::{config, logging};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeOptions {
    /// Which tools to offer
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) suite: Suite,

    /// The folder that the tools work in, and cannot leave
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,

    /// Serve by Streamable HTTP at this address, at `/mcp`; without it by standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Let tools run programs: the shell, tests, package managers
    #[arg(long)]
    pub(crate) allow_shell: bool,

    /// Let tools change databases
    #[arg(long)]
    pub(crate) allow_sql_writes: bool,

    /// What runs the tests, its words separated by spaces; told from the files in the root without it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) test_command: Option<String>,

    /// What refused calls are answered with
    #[arg(long, value_enum, default_value_t = Answer::ToolResult)]
    pub(crate) answer: Answer,

    #[command(flatten)]
    pub(crate) log: LogOptions,
}

/// A server's worth of tools.
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
    /// Jobs that call tools of the other suites at set times
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
        Failure::Usage(format!("the root `{root}` cannot be used: {error}"))
    })?;
    let form = AnswerForm::from(options.answer);
    let served = match &options.listen {
        Some(listen) => over_http(options.suite.into(), workspace, form, listen),
        None => over_stdio(options.suite.into(), workspace, form),
    };
    served.map_err(|error| {
        let place = options.listen.as_deref().unwrap_or("standard input and output");
        Failure::Unreachable(format!("[STK-101] cannot serve on {place}: {error}"))
    })?;
    Ok(Exit::Fine)
}
