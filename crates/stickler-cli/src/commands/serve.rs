//! `stickler serve`: runs a reference server.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use stickler_reference::{
    Answers, Approver, Permissions, Servers, Workspace, over_http, over_stdio,
};
use stickler_rmcp::McpConfig;
use stickler_transport::Server;

use super::gate;
use crate::cli::{Answer, LogOptions, Mode};
use crate::exit::{Exit, Failure, Outcome};
use crate::{config, logging};

/// Time limit for a call of a job.
const JOB_LIMIT: Duration = Duration::from_secs(600);

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

    /// File with the servers that scheduled jobs may call, besides the other suites: `stickler.toml`, or the
    /// configuration file of a client
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// File with the public key of the person who decides gates, outside the root [default:
    /// stickler/approver.json in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) approver: Option<PathBuf>,

    /// Do not record calls and snapshots of the files in `.stickler` below the root
    #[arg(long)]
    pub(crate) no_history: bool,

    /// Task that calls are recorded for, if the client names none
    #[arg(long, value_name = "ID")]
    pub(crate) task_id: Option<String>,

    /// Form of the response to a rejected call
    #[arg(long, value_enum, default_value_t = Answer::ToolResult)]
    pub(crate) answer: Answer,

    /// How much to intervene [default: assist]
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,

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
    /// Jobs that call tools of other servers at set times
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
  stickler serve --suite scheduler --root . --config mcp.json
  stickler run -- stickler serve --suite files --root .";

pub(crate) fn run(options: &ServeOptions) -> Outcome {
    logging::install(config::log_settings(options.log)?)?;
    let words = options.test_command.as_deref().unwrap_or_default().split_whitespace();
    let permissions = Permissions {
        shell: options.allow_shell,
        sql_writes: options.allow_sql_writes,
        test_command: words.map(str::to_owned).collect(),
        history: !options.no_history,
        task: options.task_id.clone(),
    };
    let workspace = Workspace::open(&options.root, permissions).map_err(|error| {
        let root = options.root.display();
        Failure::Usage(format!("cannot use the root `{root}`: {error}"))
    })?;
    let workspace = match options.suite {
        Suite::Scheduler => workspace.with_servers(job_servers(options)?),
        Suite::Orchestrator => workspace.with_approver(approver(options)?),
        _ => workspace,
    };
    let mode = config::mode(options.mode)?.unwrap_or(Mode::Assist);
    let answers = Answers { mode: mode.into(), form: options.answer.into() };
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

/// Reads the approver's public key. It must be outside the root, where tools cannot replace it.
fn approver(options: &ServeOptions) -> Result<Option<Approver>, Failure> {
    let path = match (gate::approver_path(options.approver.as_deref()), &options.approver) {
        (Ok(path), _) => path,
        // Without a home, there is no default.
        (Err(_), None) => return Ok(None),
        (Err(failure), Some(_)) => return Err(failure),
    };
    let file = path.display();
    let approver = Approver::load(&path)
        .map_err(|error| Failure::Usage(format!("cannot read the approver `{file}`: {error}")))?;
    if approver.is_none() && options.approver.is_some() {
        let hint = format!("hint: `stickler gate init --approver {file}` creates it");
        return Err(Failure::Usage(format!("the approver `{file}` does not exist\n\n{hint}")));
    }
    let is_inside =
        |path: PathBuf| options.root.canonicalize().is_ok_and(|root| path.starts_with(root));
    if approver.is_some() && path.canonicalize().is_ok_and(is_inside) {
        let message =
            format!("the approver `{file}` is inside the root, where tools could replace it");
        return Err(Failure::Usage(message));
    }
    Ok(approver)
}

/// Returns the servers that jobs may call: the other suites on the same root, and those of the file.
fn job_servers(options: &ServeOptions) -> Result<Servers, Failure> {
    let program = std::env::current_exe()?.display().to_string();
    let suite = |suite: stickler_reference::Suite| {
        let mut config = McpConfig::new(suite.name(), &program)
            .args(["serve", "--suite", suite.name(), "--root"])
            .args([options.root.display().to_string()]);
        if options.allow_shell {
            config = config.args(["--allow-shell"]);
        }
        if options.allow_sql_writes {
            config = config.args(["--allow-sql-writes"]);
        }
        if options.no_history {
            config = config.args(["--no-history"]);
        }
        if let Some(command) = &options.test_command {
            config = config.args(["--test-command", command]);
        }
        (suite.name().to_owned(), config)
    };
    let mut servers: Vec<(String, McpConfig)> =
        stickler_reference::Suite::WITHOUT_SCHEDULER.into_iter().map(suite).collect();
    if let Some(path) = &options.config {
        servers.extend(config::servers(path)?.into_iter().map(|one| {
            let config = client_config(&one.name, &one.server);
            (one.name, config)
        }));
    }
    let limited = servers.into_iter().map(|(name, config)| (name, config.timeout(JOB_LIMIT)));
    Ok(Servers::new(limited))
}

fn client_config(name: &str, server: &Server) -> McpConfig {
    match server {
        Server::Command(command) => {
            let mut config = McpConfig::new(name, &command.program).args(&command.arguments);
            for (variable, value) in &command.environment {
                config = config.env(variable, value);
            }
            match &command.folder {
                Some(folder) => config.current_dir(folder),
                None => config,
            }
        }
        Server::Url(url, headers) => {
            let config = McpConfig::url(name, url.to_string());
            headers.iter().fold(config, |config, (name, value)| {
                config.header(name.as_str(), value.to_str().unwrap_or_default())
            })
        }
    }
}
