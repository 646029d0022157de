//! Reloads the configuration file of a gateway that listens.

use std::sync::Arc;

use stickler_gateway::{Reload, Reloaded, SharedResources};

use super::observers::Observing;
use super::{endpoint, http_settings};
use crate::cli::RunOptions;
use crate::config::{self, Configuration, RunSettings};
use crate::exit::Failure;
use crate::protocol_schema;

/// Returns how to reload; `None` without a configuration file.
pub(super) fn of<'r>(
    options: &'r RunOptions,
    started: RunSettings,
    shared: SharedResources,
    observing: &'r Observing,
) -> Option<Reload<'r>> {
    let file = options.config.clone()?;
    let load = move || {
        load(options, &started, &shared, observing)
            .map_err(|failure| failure.message().unwrap_or_default())
    };
    let watched = options.http.watch.then_some(file);
    Some(Reload::new(load, watched))
}

fn load(
    options: &RunOptions,
    started: &RunSettings,
    shared: &SharedResources,
    observing: &Observing,
) -> Result<Reloaded, Failure> {
    let configuration = config::load(options)?;
    config::log_notes(&configuration.notes);
    let Configuration { run, servers, .. } = configuration;
    let need_restart = changes(started, &run);
    let protocol = Arc::new(protocol_schema::load(&run.schemas)?);
    let shared = SharedResources { protocol, ..shared.clone() };
    let settings = http_settings(&run, observing)?
        .ok_or_else(|| Failure::Usage("the setting `listen` was removed".to_owned()))?;
    let endpoints = servers.into_iter().map(|one| endpoint(one, shared.clone(), observing));
    Ok(Reloaded { endpoints: endpoints.collect(), settings, need_restart })
}

/// Returns the changed settings that take effect only after a restart.
fn changes(old: &RunSettings, new: &RunSettings) -> Vec<String> {
    let settings = [
        ("listen", old.listen != new.listen),
        ("admin_listen", old.admin_listen != new.admin_listen),
        ("log", old.log.level != new.log.level),
        ("log_format", old.log.format != new.log.format),
        ("summary", old.summary != new.summary),
        ("record", old.record != new.record),
        ("max_connections", old.max_connections != new.max_connections),
        ("max_waiting_bytes", old.max_waiting_bytes != new.max_waiting_bytes),
        ("otel_endpoint", old.otel_endpoint != new.otel_endpoint),
        ("otel_inject_context", old.otel_inject_context != new.otel_inject_context),
        ("ui", old.ui != new.ui),
    ];
    let changed = settings.into_iter().filter(|(_, is_changed)| *is_changed);
    changed.map(|(name, _)| format!("`{name}`")).collect()
}
