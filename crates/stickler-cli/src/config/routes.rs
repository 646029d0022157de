//! The configuration of the external processor: settings by the name that a route of Envoy selects.

use super::document::{self, Format};
use super::fault::Source;
use super::given::{Expected, Given};
use super::settings::{RunSettings, ServerSettings};
use super::stickler_file::{self, Purpose};
use super::{Layer, environment};
use crate::cli::ExtprocOptions;
use crate::exit::Failure;
use crate::logging::LogLevel;

/// The address without `--listen` and the setting `listen`.
const DEFAULT_LISTEN: &str = "127.0.0.1:50051";

/// The merged settings.
#[derive(Debug)]
pub(crate) struct RouteConfiguration {
    pub(crate) run: RunSettings,
    /// Settings of a route that names none.
    pub(crate) base: ServerSettings,
    /// Settings that a route can name.
    pub(crate) routes: Vec<(String, ServerSettings)>,
    /// Notes about ignored input, for the log.
    pub(crate) notes: Vec<(LogLevel, String)>,
}

/// Merges all layers.
pub(crate) fn load_routes(given: &ExtprocOptions) -> Result<RouteConfiguration, Failure> {
    let mut layer = match &given.config {
        Some(path) => {
            let source = Source::read(path)?;
            if Format::of(&source) != Format::Toml {
                let hint = "the configuration files of clients have no settings of routes";
                return Err(Failure::Usage(format!("`--config` must be a TOML file: {hint}")));
            }
            let layer = document::read(&source)
                .and_then(|root| stickler_file::read(&root, &source.folder(), Purpose::Routes));
            layer.map_err(|faults| source.failure(&faults))?
        }
        None => Layer::default(),
    };
    environment::apply(&mut layer)?;
    apply(given, &mut layer)?;
    let Layer { run, base, drafts, notes } = layer;
    let routes = drafts.into_iter().map(|draft| (draft.name, draft.settings)).collect();
    Ok(RouteConfiguration { run, base, routes, notes })
}

/// Applies the options to a layer.
fn apply(given: &ExtprocOptions, layer: &mut Layer) -> Result<(), Failure> {
    let run = &mut layer.run;
    let address = |text: &str| {
        Given::Word(text).address().map_err(|Expected(what)| {
            Failure::Usage(format!("`{text}` is not a valid listen address: expected {what}"))
        })
    };
    if let Some(listen) = &given.listen {
        run.listen = address(listen)?;
    }
    if run.listen.is_none() {
        run.listen = Some(DEFAULT_LISTEN.to_owned());
    }
    if let Some(listen) = &given.admin_listen {
        run.admin_listen = address(listen)?;
    }
    run.log.level = given.log.log.unwrap_or(run.log.level);
    run.log.format = given.log.log_format.unwrap_or(run.log.format);
    if let Some(directory) = &given.observe.record {
        run.record.directory = Some(directory.clone());
    }
    run.summary = given.observe.summary.unwrap_or(run.summary);
    let processor = &mut run.processor;
    let replace = |place: &mut Option<_>, value: &Option<_>| {
        if value.is_some() {
            place.clone_from(value);
        }
    };
    replace(&mut processor.tls_cert, &given.tls_cert);
    replace(&mut processor.tls_key, &given.tls_key);
    replace(&mut processor.client_ca, &given.client_ca);
    if given.learn_secret_env.is_some() {
        processor.learn_secret_env.clone_from(&given.learn_secret_env);
    }
    apply_to_route(given, &mut layer.base);
    layer.drafts.iter_mut().for_each(|draft| apply_to_route(given, &mut draft.settings));
    Ok(())
}

fn apply_to_route(given: &ExtprocOptions, settings: &mut ServerSettings) {
    if let Some(values) = given.observe.record_values {
        settings.record_values = values;
    }
    if let Some(mode) = given.mode {
        settings.mode = mode.into();
    }
    if let Some(url) = &given.learn_url {
        settings.learn_url = Some(url.clone());
    }
    if let Some(age) = given.fresh_enough {
        settings.connection.max_list_age = age;
    }
    if let Some(grace) = given.grace {
        settings.grace = grace;
    }
}
