//! `stickler extproc`: builds the external processor from the configuration and runs it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hyper::{HeaderMap, Uri};
use stickler_extproc::{LEARN_HEADER, Routes, Settings, Tls};
use stickler_gateway::{ExternalServer, SharedResources};
use stickler_transport::Server;

use super::run::{self, Observing, observers};
use crate::cli::ExtprocOptions;
use crate::config::{self, ProcessorSettings, RouteConfiguration, ServerSettings};
use crate::exit::{Exit, Failure, Outcome};
use crate::logging;
use crate::protocol_schema;

/// Name of the settings of routes that name none, in logs and metrics.
const DEFAULT_NAME: &str = "default";

pub(crate) fn run(options: &ExtprocOptions) -> Outcome {
    let configuration = config::load_routes(options)?;
    logging::install(configuration.run.log)?;
    config::log_notes(&configuration.notes);
    let observing = observers::start(&configuration.run)?;
    let outcome = serve(configuration, &observing);
    observing.finish();
    outcome
}

fn serve(configuration: RouteConfiguration, observing: &Observing) -> Outcome {
    let RouteConfiguration { run, base, routes, .. } = configuration;
    let protocol = Arc::new(protocol_schema::load(&run.schemas)?);
    let shared = SharedResources { protocol, ..SharedResources::default() };
    let secret = secret(run.processor.learn_secret_env.as_deref())?;
    let server = |name: &str, settings: &ServerSettings| {
        external(name, settings, (shared.clone(), observing), secret.as_deref())
    };
    let default = server(DEFAULT_NAME, &base)?;
    let mut named = HashMap::new();
    for (name, settings) in &routes {
        named.insert(name.clone(), server(name, settings)?);
    }
    // The address of the gateway is the default of no run.
    let listen = run.listen.unwrap_or_default();
    let settings = Settings {
        listen: listen.clone(),
        tls: tls(&run.processor)?,
        secret,
        grace: base.grace,
        admin_listen: run.admin_listen,
        metrics: observing.metrics.clone(),
    };
    stickler_extproc::serve(Routes { default, named }, settings).map_err(|error| {
        Failure::Unreachable(format!("[STK-101] cannot serve Envoy at `{listen}`: {error}"))
    })?;
    Ok(Exit::Success)
}

/// Creates the judge of the routes with these settings.
fn external(
    name: &str,
    settings: &ServerSettings,
    (shared, observing): (SharedResources, &Observing),
    secret: Option<&str>,
) -> Result<Arc<ExternalServer>, Failure> {
    let invalid = |url: &str, reason: &str| {
        Failure::Usage(format!("the `learn_url` `{url}` of `{name}` is invalid: {reason}"))
    };
    let learn = match &settings.learn_url {
        None => None,
        Some(url) => {
            let uri: Uri = Server::parse_url(url).map_err(|reason| invalid(url, &reason))?;
            let mut headers = HeaderMap::new();
            if let Some(secret) = secret {
                let value = secret.parse().map_err(|_| {
                    Failure::Usage(
                        "the secret of `learn_secret_env` must be visible ASCII".to_owned(),
                    )
                })?;
                headers.insert(LEARN_HEADER, value);
            }
            Some((uri, headers))
        }
    };
    let server = Server::Command(stickler_transport::ServerCommand::default());
    let (factory, log) = run::factory((name, &server), settings, shared, observing);
    let shown = settings.learn_url.clone().unwrap_or_default();
    ExternalServer::new(factory, log, learn, settings.sessions)
        .map_err(|error| invalid(&shown, &error.to_string()))
}

fn secret(variable: Option<&str>) -> Result<Option<Arc<str>>, Failure> {
    let Some(variable) = variable else { return Ok(None) };
    let secret = std::env::var(variable).ok().filter(|secret| !secret.is_empty());
    secret.map(|secret| Some(secret.into())).ok_or_else(|| {
        Failure::Usage(format!("the environment variable `{variable}` is not set or empty"))
    })
}

/// Reads the certificates.
fn tls(settings: &ProcessorSettings) -> Result<Option<Tls>, Failure> {
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(|error| Failure::Usage(format!("cannot read `{}`: {error}", path.display())))
    };
    match (&settings.tls_cert, &settings.tls_key) {
        (Some(certificate), Some(key)) => Ok(Some(Tls {
            certificate: read(certificate)?,
            key: read(key)?,
            client_ca: settings.client_ca.as_deref().map(read).transpose()?,
        })),
        (None, None) if settings.client_ca.is_none() => Ok(None),
        _ => Err(Failure::Usage(
            "`tls_cert` and `tls_key` belong together, and `client_ca` requires both".to_owned(),
        )),
    }
}
