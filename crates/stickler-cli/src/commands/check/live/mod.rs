//! A server that is there: asked for its tools, and tried with what is wrong.
//!
//! | file | holds |
//! | --- | --- |
//! | `connection` | a command or a URL, with messages in both directions |
//! | `talk`, `reply` | questions and answers, every message of the server's judged on the way |
//! | `opening` | the handshake of either era, and the list of tools |
//! | `plan` | which wrong calls a tool can be given without harm |
//! | `grade` | how clear an answer is |
//! | `probes` | what is sent, and what is made of it |

mod connection;
mod grade;
mod opening;
mod plan;
mod probes;
mod reply;
mod talk;

use std::sync::Arc;
use std::time::Duration;

use stickler::rules::probes as rules;
use stickler::{McpValidator, Severity, ValidationConfig};
use stickler_protocol::lint::{LintOptions, lint};
use stickler_transport::{Server, ServerCommand};

use super::options::CheckOptions;
use super::report::{Found, Report};
use crate::exit::Failure;
use connection::Farewell;
pub(super) use grade::Grade;

/// Where the server's tools are kept.
const SERVER: &str = "server";

/// What all connections of one check have in common.
pub(super) struct Setup {
    server: Server,
    token: Option<String>,
    validator: Arc<McpValidator>,
    timeout: Duration,
    start_timeout: Duration,
    revision: Option<stickler::Revision>,
}

/// One thing that was tried.
#[derive(Debug)]
pub(super) struct Probed {
    pub(super) name: &'static str,
    pub(super) tool: Option<String>,
    pub(super) grade: Grade,
    /// The answer, in a few words.
    pub(super) answer: String,
    pub(super) millis: u64,
}

/// A tool that was not tried.
#[derive(Debug)]
pub(super) struct Spared {
    pub(super) tool: String,
    pub(super) reason: String,
}

pub(super) fn check(options: &CheckOptions) -> Result<Report, Failure> {
    let setup = Setup::new(options)?;
    let mut talk = opening::open(&setup)?;
    let listed = opening::list_tools(&mut talk)?;
    talk.timeout = setup.timeout;
    let lint_options = LintOptions::default().with_revision(talk.revision());
    let examined = lint(&listed.text, &lint_options)
        .map_err(|error| Failure::Unreachable(format!("the server's list of tools: {error}")))?;
    let mut report = Report {
        name: setup.server.name(),
        server: talk.server_name.clone(),
        revision: talk.revision(),
        tools: examined.tools,
        findings: examined.findings.into_iter().map(Found::from).collect(),
        ..Report::default()
    };
    if report.tools.is_empty() {
        let found = about_server(&rules::NO_TOOLS, "the server has no tools");
        report.findings.push(found);
    }
    if !options.no_probe {
        talk = probes::run(&setup, talk, &listed, options.probe_limit, &mut report)?;
    }
    let (findings, connection) = talk.close();
    report.findings.extend(findings);
    if let Some(farewell) = connection.end(setup.timeout) {
        report.findings.extend(about_farewell(&farewell));
    }
    Ok(report)
}

impl Setup {
    fn new(options: &CheckOptions) -> Result<Self, Failure> {
        let server = match (&options.url, options.command.split_first()) {
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
                let message = "nothing to check: give `--tools`, `--url` or a command after `--`";
                return Err(Failure::Usage(message.to_owned()));
            }
        };
        let token = options.bearer_token_env.as_ref().map(|variable| {
            let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
            token.ok_or_else(|| Failure::Usage(format!("the variable `{variable}` holds no token")))
        });
        Ok(Self {
            server,
            token: token.transpose()?,
            validator: Arc::new(McpValidator::new(ValidationConfig::default())),
            timeout: Duration::from_secs(options.timeout),
            start_timeout: Duration::from_secs(options.start_timeout),
            revision: options.revision,
        })
    }
}

fn about_server(rule: &'static stickler::Rule, message: impl Into<String>) -> Found {
    Found {
        rule,
        severity: rule.severity,
        tool: None,
        path: String::new(),
        message: message.into(),
        fix: rule.fix.to_owned(),
        place: None,
    }
}

fn about_farewell(farewell: &Farewell) -> Vec<Found> {
    let mut found = Vec::new();
    match farewell {
        Farewell { ended_by_itself: false, killed, seconds, .. } => {
            let how = if *killed { "had to be killed" } else { "ended when it was told to" };
            let message = format!(
                "{seconds} s after the end of its input the server was still there; it {how}"
            );
            found.push(about_server(&rules::KEEPS_RUNNING, message));
        }
        Farewell { left_behind: 0, .. } => {}
        Farewell { left_behind, .. } => {
            let message = format!("{left_behind} processes of the server's were still there");
            found.push(Found {
                severity: Severity::Warning,
                ..about_server(&rules::LEFT_BEHIND, message)
            });
        }
    }
    found
}
