//! `stickler run`: the gateway.

use std::sync::Arc;
use std::time::Duration;

use stickler::{AnswerForm, GatekeeperSettings, McpValidator, Policy, ValidationConfig};

use crate::cli::{Answer, HttpOptions, RunOptions};
use crate::exit::{Exit, Failure, Outcome};
use crate::gateway::{self, HttpSettings, Log, Recipe, Server, ServerCommand};

pub(crate) fn run(options: &RunOptions) -> Outcome {
    let server = server(options)?;
    let name = options.name.clone().unwrap_or_else(|| server.name());
    let recipe = recipe(options, name.clone());
    let log = Log { level: options.log, server: name };
    let grace = Duration::from_secs(options.grace);
    match (&options.http.listen, server) {
        (Some(listen), server) => {
            if !listen.contains(':') {
                let message = format!("`{listen}` is no address to listen on");
                return Err(Failure::Usage(format!(
                    "{message}: give a host and a port, such as 127.0.0.1:8787"
                )));
            }
            let settings = http_settings(&options.http, listen, grace)?;
            gateway::serve(recipe, settings, server, log).map_err(|error| {
                Failure::Unreachable(format!("[STK-101] cannot listen on `{listen}`: {error}"))
            })?;
            Ok(Exit::Fine)
        }
        (None, Server::Command(command)) => relay(&recipe, &command, log, grace),
        (None, Server::Url(url)) => {
            gateway::relay_to_url(recipe, url, log, grace)?;
            Ok(Exit::Fine)
        }
    }
}

fn server(options: &RunOptions) -> Result<Server, Failure> {
    if let Some(url) = &options.http.url {
        let usage = |reason: &str| Failure::Usage(format!("`{url}` is no usable URL: {reason}"));
        let uri: hyper::Uri = url.parse().map_err(|_| usage("it cannot be read"))?;
        return match uri.scheme_str() {
            Some("http" | "https") if uri.authority().is_some() => Ok(Server::Url(uri)),
            _ => Err(usage("it must begin with `http://` or `https://`")),
        };
    }
    let (program, arguments) = options.command.split_first().ok_or_else(no_server)?;
    Ok(Server::Command(ServerCommand { program: program.clone(), arguments: arguments.to_vec() }))
}

fn recipe(options: &RunOptions, name: String) -> Recipe {
    let mut settings = GatekeeperSettings::default();
    settings.announces = !options.quiet_capability;
    Recipe {
        name,
        validator: Arc::new(McpValidator::new(ValidationConfig::from(&options.checks))),
        policy: Arc::new(policy(options)),
        protocol: Arc::default(),
        settings,
    }
}

/// Client on standard input and output, server as a child process.
fn relay(recipe: &Recipe, command: &ServerCommand, log: Log, grace: Duration) -> Outcome {
    let gatekeeper = recipe.gatekeeper(&recipe.name, None);
    let (server, stdin, stdout) = command.start().map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot start `{}`: {error}", command.program))
    })?;
    gateway::pass_signals_on(server.pid()).map_err(Failure::Output)?;
    let message_bytes = recipe.message_bytes();
    let code = gateway::relay(gatekeeper, server, (stdin, stdout), log, message_bytes, grace)?;
    Ok(Exit::Server(code))
}

fn http_settings(
    options: &HttpOptions,
    listen: &str,
    grace: Duration,
) -> Result<HttpSettings, Failure> {
    let token = options.bearer_token_env.as_ref().map(|variable| {
        let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
        token.ok_or_else(|| Failure::Usage(format!("the variable `{variable}` holds no token")))
    });
    Ok(HttpSettings {
        listen: listen.to_owned(),
        origins: options.allow_origin.clone(),
        token: token.transpose()?,
        idle: Duration::from_secs(options.idle_timeout),
        children: options.max_children.min(tokio::sync::Semaphore::MAX_PERMITS),
        grace,
        keep_alive: Duration::from_secs(options.keep_alive),
    })
}

fn policy(options: &RunOptions) -> Policy {
    let mut policy = if options.strict { Policy::strict() } else { Policy::default() };
    policy.answer = match options.answer {
        Answer::ToolResult => AnswerForm::ToolResult,
        Answer::JsonRpcError => AnswerForm::JsonRpcError,
        Answer::Observation => AnswerForm::Observation,
    };
    policy
}

fn no_server() -> Failure {
    Failure::Usage("no server: put its command after `--`, or give `--url`".to_owned())
}
