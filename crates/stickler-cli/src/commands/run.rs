//! `stickler run`: the gateway.

use std::sync::Arc;

use stickler_gateway::{Endpoint, HttpSettings, Keeping, Log, Recipe};
use stickler_protocol::ProtocolSchemas;
use stickler_transport::Server;

use crate::cli::RunOptions;
use crate::config::{self, Configuration, Configured, RunSettings, ServerSettings};
use crate::exit::{Exit, Failure, Outcome};
use crate::logging::{self, LogLevel};
use crate::protocol_schema;

pub(crate) fn run(options: &RunOptions) -> Outcome {
    let Configuration { run, servers, notes } = config::load(options)?;
    logging::install(run.log)?;
    for (level, note) in &notes {
        if *level == LogLevel::Info {
            tracing::info!("configuration: {note}");
        } else {
            tracing::warn!("configuration: {note}");
        }
    }
    let schemas = Arc::new(protocol_schema::load(&run.schemas)?);
    let endpoints = servers.into_iter().map(|one| endpoint(one, &schemas));
    let mut endpoints: Vec<Endpoint> = endpoints.collect();
    match http_settings(run)? {
        Some(settings) => {
            look_for_programs(&endpoints)?;
            let listen = settings.listen.clone();
            stickler_gateway::serve(endpoints, settings).map_err(|error| {
                Failure::Unreachable(format!("[STK-101] cannot listen on `{listen}`: {error}"))
            })?;
            Ok(Exit::Fine)
        }
        // There is exactly one: the configuration has seen to it.
        None => endpoints.pop().map_or(Ok(Exit::Fine), relay),
    }
}

/// Servers are started when somebody wants them; that one never will be is told before.
fn look_for_programs(endpoints: &[Endpoint]) -> Result<(), Failure> {
    for Endpoint { server, log, .. } in endpoints {
        let Server::Command(command) = server else { continue };
        if command.is_missing() {
            let program = &command.program;
            let text = format!("[STK-101] cannot start `{program}`: there is no such program");
            if endpoints.len() == 1 {
                return Err(Failure::Unreachable(text));
            }
            tracing::error!(parent: log.span(), rule = "STK-101", "{text}");
        }
    }
    Ok(())
}

fn endpoint(one: Configured, schemas: &Arc<ProtocolSchemas>) -> Endpoint {
    let Configured { name, server, settings } = one;
    let name: Arc<str> = name.into();
    let keeping = Keeping {
        idle: settings.idle,
        keep_alive: settings.keep_alive,
        children: settings.children,
        sessions: settings.sessions,
        grace: settings.grace,
        restart: settings.restart,
    };
    let policy = settings.policy();
    let ServerSettings { validation, gatekeeper, .. } = settings;
    let recipe =
        Recipe::new(Arc::clone(&name), policy, validation, gatekeeper, Arc::clone(schemas));
    Endpoint { recipe, server, keeping, log: Log::new(name) }
}

/// A client on standard input and output.
fn relay(endpoint: Endpoint) -> Outcome {
    let Endpoint { recipe, server, keeping, log } = endpoint;
    match server {
        Server::Command(command) => {
            Ok(Exit::Server(stickler_gateway::relay(&recipe, &command, log, keeping)?))
        }
        Server::Url(url, headers) => {
            stickler_gateway::relay_to_url(recipe, (url, headers), log, keeping.grace)?;
            Ok(Exit::Fine)
        }
    }
}

impl From<stickler_gateway::Failure> for Failure {
    fn from(failure: stickler_gateway::Failure) -> Self {
        match failure {
            stickler_gateway::Failure::Unreachable(message) => Self::Unreachable(message),
            stickler_gateway::Failure::Output(error) => Self::Output(error),
        }
    }
}

/// How clients are served that come by HTTP; `None` when they do not.
fn http_settings(run: RunSettings) -> Result<Option<HttpSettings>, Failure> {
    let Some(listen) = run.listen else { return Ok(None) };
    let token = run.token_env.map(|variable| {
        let token = std::env::var(&variable).ok().filter(|token| !token.is_empty());
        token.ok_or_else(|| Failure::Usage(format!("the variable `{variable}` holds no token")))
    });
    let token = token.transpose()?;
    Ok(Some(HttpSettings { listen, path: run.path, origins: run.origins, token }))
}
