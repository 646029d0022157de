//! `stickler run`: builds the gateway from the configuration and runs it.

pub(super) mod observers;
mod reload;

use std::sync::Arc;

use stickler::{MemoryBudget, SchemaStore};
use stickler_gateway::observe::{ObservedServer, RecordedValues};
use stickler_gateway::{
    ConnectionFactory, Endpoint, HttpSettings, Log, ServerLimits, SharedResources,
};
use stickler_transport::Server;
use stickler_transport::http::IdentityHeaders;

pub(super) use self::observers::Observing;
use crate::cli::{RecordValues, RunOptions};
use crate::config::{self, Configuration, Configured, RunSettings, ServerSettings};
use crate::exit::{Exit, Failure, Outcome};
use crate::logging;
use crate::protocol_schema;

pub(crate) fn run(options: &RunOptions) -> Outcome {
    let configuration = config::load(options)?;
    logging::install(configuration.run.log)?;
    config::log_notes(&configuration.notes);
    let observing = observers::start(&configuration.run)?;
    let outcome = gateway(options, configuration, &observing);
    observing.finish();
    outcome
}

fn gateway(options: &RunOptions, configuration: Configuration, observing: &Observing) -> Outcome {
    let Configuration { run, servers, .. } = configuration;
    let protocol = Arc::new(protocol_schema::load(&run.schemas)?);
    let memory = MemoryBudget::new(run.max_waiting_bytes);
    let schemas = SchemaStore::with_memory(&memory);
    let shared = SharedResources { protocol, schemas, ..SharedResources::default() };
    let endpoints = servers.into_iter().map(|one| endpoint(one, shared.clone(), observing));
    let mut endpoints: Vec<Endpoint> = endpoints.collect();
    match http_settings(&run, observing)? {
        Some(settings) => {
            check_programs_exist(&endpoints)?;
            let listen = settings.listen.clone();
            serve_page(&run, options)?;
            let reload = reload::of(options, run, shared, observing);
            stickler_gateway::serve(endpoints, settings, reload).map_err(|error| {
                Failure::Unreachable(format!("[STK-101] cannot listen on `{listen}`: {error}"))
            })?;
            Ok(Exit::Success)
        }
        // The configuration guarantees exactly one server.
        None => endpoints.pop().map_or(Ok(Exit::Success), relay),
    }
}

/// Serves the page over the recordings, if it is configured.
#[cfg(feature = "ui")]
fn serve_page(run: &RunSettings, options: &RunOptions) -> Result<(), Failure> {
    let recorded_to = run.record.directory.as_deref();
    if let Some(url) = super::ui::of_gateway(&run.ui, recorded_to, options.config.as_deref())? {
        tracing::info!(target: "announcement", "page over the recordings at {url}");
    }
    Ok(())
}

#[cfg(not(feature = "ui"))]
fn serve_page(run: &RunSettings, _: &RunOptions) -> Result<(), Failure> {
    if run.ui.listen.is_none() {
        return Ok(());
    }
    let text = "this build does not include the page: rebuild stickler-cli with `--features ui`";
    Err(Failure::Usage(text.to_owned()))
}

/// Reports programs that do not exist at startup, although servers are started on demand.
fn check_programs_exist(endpoints: &[Endpoint]) -> Result<(), Failure> {
    for Endpoint { server, log, .. } in endpoints {
        let Server::Command(command) = server else { continue };
        if command.is_missing() {
            let program = &command.program;
            let reason = command.missing_reason();
            let text = format!("[STK-101] cannot start `{program}`: {reason}");
            if endpoints.len() == 1 {
                return Err(Failure::Unreachable(text));
            }
            tracing::error!(parent: log.span(), rule = "STK-101", "{text}");
        }
    }
    Ok(())
}

fn endpoint(one: Configured, shared: SharedResources, observing: &Observing) -> Endpoint {
    let Configured { name, server, settings } = one;
    let limits = ServerLimits {
        idle: settings.idle,
        keep_alive: settings.keep_alive,
        children: settings.children,
        sessions: settings.sessions,
        grace: settings.grace,
        restart: settings.restart,
    };
    let (factory, log) = factory((&name, &server), &settings, shared, observing);
    Endpoint { factory, server, limits, log }
}

/// Creates what connections with these settings share, and their log.
pub(super) fn factory(
    (name, server): (&str, &Server),
    settings: &ServerSettings,
    shared: SharedResources,
    observing: &Observing,
) -> (ConnectionFactory, Log) {
    let name: Arc<str> = name.into();
    let (policy, validation) = (settings.policy(), settings.validation());
    let connection = settings.connection();
    let identity = IdentityHeaders::with_neutral(settings.neutral_headers.iter().cloned());
    let factory = ConnectionFactory::new(Arc::clone(&name), policy, validation, connection, shared)
        .with_identity_headers(identity);
    let mut observed = ObservedServer::new(name, settings.mode, server);
    observed.values = match settings.record_values {
        RecordValues::Redacted => RecordedValues::Redacted,
        RecordValues::None => RecordedValues::None,
        RecordValues::Full => RecordedValues::Full,
    };
    (factory, Log::with_observers(&observing.observers, observed))
}

/// Serves a single client on standard input and output.
fn relay(endpoint: Endpoint) -> Outcome {
    let Endpoint { factory, server, limits, log } = endpoint;
    match server {
        Server::Command(command) => {
            Ok(Exit::Server(stickler_gateway::relay(&factory, &command, log, limits)?))
        }
        Server::Url(url, headers) => {
            stickler_gateway::relay_to_url(factory, (url, headers), log, limits.grace)?;
            Ok(Exit::Success)
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

/// Returns the settings of the HTTP frontend; `None` without `--listen`.
fn http_settings(
    run: &RunSettings,
    observing: &Observing,
) -> Result<Option<HttpSettings>, Failure> {
    let Some(listen) = run.listen.clone() else { return Ok(None) };
    let token = run.token_env.as_ref().map(|variable| {
        let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
        token.ok_or_else(|| {
            Failure::Usage(format!("the environment variable `{variable}` is not set or empty"))
        })
    });
    Ok(Some(HttpSettings {
        listen,
        path: run.path.clone(),
        origins: run.origins.clone(),
        token: token.transpose()?,
        admin_listen: run.admin_listen.clone(),
        metrics: observing.metrics.clone(),
        max_connections: run.max_connections,
        body_timeout: run.body_timeout,
    }))
}
