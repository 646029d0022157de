//! Checks a running server: lists its tools and probes it with invalid requests.
//!
//! | file | contents |
//! | --- | --- |
//! | `connection` | the transport: a child process or a URL |
//! | `session`, `response` | requests and responses, with validation of every message from the server |
//! | `handshake` | the handshake of both protocol eras, and the tool list |
//! | `tool_probes` | the probes of tools, judged against a valid call |
//! | `plan` | invalid calls that a tool can receive without side effects |
//! | `grade` | grades of responses |
//! | `probes` | the probes and the findings from their responses |

mod connection;
mod grade;
mod handshake;
mod plan;
mod probes;
mod response;
mod session;
mod tool_probes;

use std::sync::Arc;
use std::time::Duration;

use stickler::rules::probes as rules;
use stickler::{McpValidator, Severity, ValidationConfig};
use stickler_protocol::lint::{LintOptions, lint};
use stickler_transport::{Server, ServerCommand};

use super::options::CheckOptions;
use super::progress::Progress;
use super::report::{CheckFinding, Report};
use crate::commands::counts::count;
use crate::exit::Failure;
use connection::ServerExit;
pub(super) use grade::Grade;
pub(in crate::commands) use handshake::ToolListing;

/// Maximum time for a response and for the shutdown, unless an option sets it.
pub(in crate::commands) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Server name in the cache.
const SERVER: &str = "server";

/// Parameters shared by all connections of a check.
pub(super) struct Setup {
    server: Server,
    token: Option<String>,
    validator: Arc<McpValidator>,
    timeout: Duration,
    start_timeout: Duration,
    revision: Option<stickler::Revision>,
    progress: Progress,
}

/// Result of one probe.
#[derive(Debug)]
pub(super) struct ProbeResult {
    pub(super) name: &'static str,
    pub(super) tool: Option<String>,
    pub(super) grade: Grade,
    /// Summary of the response.
    pub(super) answer: String,
    pub(super) millis: u64,
}

/// A tool that was not probed.
#[derive(Debug)]
pub(super) struct SkippedTool {
    pub(super) tool: String,
    pub(super) reason: String,
}

/// The server to connect to, and how.
pub(in crate::commands) struct Target<'t> {
    pub(in crate::commands) url: Option<&'t str>,
    pub(in crate::commands) bearer_token_env: Option<&'t str>,
    pub(in crate::commands) command: &'t [String],
    pub(in crate::commands) revision: Option<stickler::Revision>,
    pub(in crate::commands) timeout: Duration,
    pub(in crate::commands) start_timeout: Duration,
    pub(in crate::commands) is_quiet: bool,
}

/// Lists the tools of a server without checking them.
pub(in crate::commands) fn list(target: &Target<'_>) -> Result<ToolListing, Failure> {
    let setup = Setup::new(target)?;
    setup.progress.step(&format!("starting {}", setup.server.name()));
    let mut session = handshake::open(&setup)?;
    setup.progress.finish();
    let listing = handshake::list_tools(&mut session);
    session.close().1.shutdown(setup.timeout);
    listing
}

pub(super) fn check(options: &CheckOptions) -> Result<Report, Failure> {
    let setup = Setup::new(&Target {
        url: options.url.as_deref(),
        bearer_token_env: options.bearer_token_env.as_deref(),
        command: &options.command,
        revision: options.revision,
        timeout: Duration::from_secs(options.timeout),
        start_timeout: Duration::from_secs(options.start_timeout),
        is_quiet: options.quiet,
    })?;
    setup.progress.phase(&format!("starting `{}`", setup.server.name()));
    let mut session = handshake::open(&setup)?;
    let listing = handshake::list_tools(&mut session)?;
    session.timeout = setup.timeout;
    let lint_options = LintOptions::default().with_revision(session.revision());
    let examined = lint(&listing.text, &lint_options).map_err(|error| {
        Failure::Unreachable(format!("cannot read the tool list of the server: {error}"))
    })?;
    let mut report = Report {
        name: setup.server.name(),
        server: session.server_name.clone(),
        revision: session.revision(),
        tools: examined.tools,
        findings: examined.findings.into_iter().map(CheckFinding::from).collect(),
        ..Report::default()
    };
    if report.tools.is_empty() {
        let found = server_finding(&rules::NO_TOOLS, "the server has no tools");
        report.findings.push(found);
    }
    if !options.no_probe {
        setup.progress.phase(&format!("probing {}", count(listing.tools.len(), "tool")));
        session = probes::run(&setup, session, &listing, options.probe_limit, &mut report)?;
    }
    let (findings, connection) = session.close();
    report.findings.extend(findings);
    setup.progress.finish();
    if let Some(server_exit) = connection.shutdown(setup.timeout) {
        report.findings.extend(exit_findings(&server_exit));
    }
    Ok(report)
}

impl Setup {
    fn new(target: &Target<'_>) -> Result<Self, Failure> {
        let server = match (target.url, target.command.split_first()) {
            (Some(url), _) => {
                let url = Server::parse_url(url).map_err(Failure::Usage)?;
                Server::Url(url, hyper::HeaderMap::new())
            }
            (None, Some((program, arguments))) => Server::Command(ServerCommand {
                program: program.clone(),
                arguments: arguments.to_vec(),
                ..ServerCommand::default()
            }),
            (None, None) => {
                let message =
                    "no server given: give its command after `--`, or its URL with `--url`";
                return Err(Failure::Usage(message.to_owned()));
            }
        };
        let token = target.bearer_token_env.map(|variable| {
            let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
            token.ok_or_else(|| {
                Failure::Usage(format!("the environment variable `{variable}` is not set or empty"))
            })
        });
        Ok(Self {
            server,
            token: token.transpose()?,
            validator: Arc::new(McpValidator::new(ValidationConfig::default())),
            timeout: target.timeout,
            start_timeout: target.start_timeout,
            revision: target.revision,
            progress: Progress::new(target.is_quiet),
        })
    }
}

fn server_finding(rule: &'static stickler::Rule, message: impl Into<String>) -> CheckFinding {
    CheckFinding {
        rule,
        severity: rule.severity,
        tool: None,
        path: String::new(),
        message: message.into(),
        fix: rule.fix.to_owned(),
        place: None,
    }
}

fn exit_findings(server_exit: &ServerExit) -> Vec<CheckFinding> {
    let mut found = Vec::new();
    match server_exit {
        ServerExit { is_voluntary: false, killed, seconds, .. } => {
            let how = if *killed { "had to be killed" } else { "exited on SIGTERM" };
            let message = format!(
                "the server was still running {seconds} s after its input was closed; it {how}"
            );
            found.push(server_finding(&rules::KEEPS_RUNNING, message));
        }
        ServerExit { orphans: 0, .. } => {}
        ServerExit { orphans, .. } => {
            let message = format!("{orphans} child processes of the server were still running");
            found.push(CheckFinding {
                severity: Severity::Warning,
                ..server_finding(&rules::LEFT_BEHIND, message)
            });
        }
    }
    found
}
