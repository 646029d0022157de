//! Applies the command line, which takes precedence over all other layers.

use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use stickler_transport::{Server, ServerCommand};

use super::Layer;
use super::given::{Expected, Given};
use super::settings::ServerSettings;
use super::table;
use crate::cli::{HttpOptions, RunOptions};
use crate::exit::Failure;
use crate::logging::LogLevel;

/// Applies the options to a layer.
pub(super) fn apply(options: &RunOptions, layer: &mut Layer) -> Result<(), Failure> {
    let run = &mut layer.run;
    let http = &options.http;
    if let Some(listen) = &http.listen {
        let address = Given::Word(listen).address();
        run.listen = address.map_err(|Expected(what)| {
            Failure::Usage(format!("`{listen}` is not a valid listen address: expected {what}"))
        })?;
    }
    if let Some(listen) = &http.admin_listen {
        let address = Given::Word(listen).address();
        run.admin_listen = address.map_err(|Expected(what)| {
            Failure::Usage(format!("`{listen}` is not a valid listen address: expected {what}"))
        })?;
    }
    if let Some(path) = &http.path {
        run.path = table::path(Given::Word(path))
            .map_err(|Expected(what)| Failure::Usage(format!("`--path` must be {what}")))?;
    }
    if !http.allow_origin.is_empty() {
        let origins = http.allow_origin.join(",");
        run.origins = Given::Word(&origins)
            .origins()
            .map_err(|Expected(what)| Failure::Usage(format!("`--allow-origin` takes {what}")))?;
    }
    if let Some(variable) = &http.bearer_token_env {
        run.token_env = Some(variable.clone());
    }
    if let Some(level) = options.log.log {
        run.log.level = level;
    }
    if let Some(format) = options.log.log_format {
        run.log.format = format;
    }
    if let Some(directory) = &options.observe.record {
        run.record.directory = Some(directory.clone());
    }
    if let Some(summary) = options.observe.summary {
        run.summary = summary;
    }
    run.schemas.extend(options.protocol_schema.iter().cloned());
    if run.listen.is_none() && !http.allow_origin.is_empty() {
        return Err(needs_listen("--allow-origin"));
    }
    if run.listen.is_none() && http.watch {
        return Err(needs_listen("--watch"));
    }
    if run.listen.is_none() && http.admin_listen.is_some() {
        return Err(needs_listen("--admin-listen"));
    }
    if run.listen.is_none() && http.bearer_token_env.is_some() {
        return Err(needs_listen("--bearer-token-env"));
    }
    if run.listen.is_none() && run.ui.listen.is_some() {
        let note = "`ui.listen` is ignored because there is no `listen`: `stickler ui` shows the recordings";
        layer.notes.push((LogLevel::Warn, note.to_owned()));
    }
    apply_to_server(options, &mut layer.base);
    layer.drafts.iter_mut().for_each(|draft| apply_to_server(options, &mut draft.settings));
    Ok(())
}

fn apply_to_server(options: &RunOptions, settings: &mut ServerSettings) {
    let http = &options.http;
    if let Some(answer) = options.answer {
        settings.answer = answer.into();
    }
    if let Some(values) = options.observe.record_values {
        settings.record_values = values;
    }
    if let Some(mode) = options.mode {
        settings.mode = mode.into();
    }
    if let Some(strict) = options.strict {
        settings.strict = strict;
    }
    if let Some(quiet) = options.quiet_capability {
        settings.chosen.announce = Some(!quiet);
    }
    if let Some(grace) = options.grace {
        settings.grace = grace;
    }
    if let Some(timeout) = options.request_timeout {
        settings.connection.request_timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
    }
    if let Some(when) = options.restart {
        settings.restart.when = when.into();
    }
    if let Some(idle) = http.idle_timeout {
        settings.idle = idle;
    }
    if let Some(keep_alive) = http.keep_alive {
        settings.keep_alive = keep_alive;
    }
    if let Some(children) = http.max_children {
        settings.children = children;
    }
    let checks = &options.checks;
    checks.apply(&mut settings.validation);
    if let Some(choice) = checks.unknown_fields {
        settings.chosen.unknown_fields = Some(choice.into());
    }
    if let Some(choice) = checks.repair {
        settings.chosen.repair = Some(choice.into());
    }
}

/// Parses a duration, with the same rules as in a file.
pub(crate) fn seconds(word: &str) -> Result<Duration, String> {
    Given::Word(word).seconds().map_err(|Expected(what)| format!("expected {what}"))
}

/// Parses a duration that must not be zero.
pub(crate) fn positive_seconds(word: &str) -> Result<Duration, String> {
    table::positive_seconds(Given::Word(word)).map_err(|Expected(what)| format!("expected {what}"))
}

/// Returns the server that the command line specifies, if any.
pub(super) fn server(options: &RunOptions) -> Result<Option<Server>, Failure> {
    if let Some(url) = &options.http.url {
        let uri = Server::parse_url(url).map_err(Failure::Usage)?;
        return Ok(Some(Server::Url(uri, headers(&options.http)?)));
    }
    check_switches(std::env::args())?;
    Ok(options.command.split_first().map(|(program, arguments)| {
        Server::Command(ServerCommand {
            program: program.clone(),
            arguments: arguments.to_vec(),
            ..ServerCommand::default()
        })
    }))
}

/// Rejects a boolean after a switch: `--strict true -- npx …` would run the program `true`.
fn check_switches(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let arguments: Vec<String> = arguments.take_while(|word| word != "--").collect();
    for pair in arguments.windows(2) {
        let [switch, word] = pair else { continue };
        let is_switch = matches!(switch.as_str(), "--strict" | "--mask" | "--quiet-capability");
        if is_switch && matches!(word.as_str(), "true" | "false" | "yes" | "no") {
            let value = matches!(word.as_str(), "true" | "yes");
            return Err(Failure::Usage(format!(
                "`{word}` after `{switch}` would be the command of the server\n\nhint: write `{switch}={value}`"
            )));
        }
    }
    Ok(())
}

/// Reads headers from environment variables, which process lists do not show.
fn headers(options: &HttpOptions) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for header in &options.header_env {
        let (name, variable) = header.split_once('=').unwrap_or((header, header));
        let header: HeaderName = name
            .parse()
            .map_err(|_| Failure::Usage(format!("`{name}` is not a valid header name")))?;
        let value = std::env::var(variable).map_err(|_| {
            Failure::Usage(format!(
                "the environment variable `{variable}` for the header `{name}` is not set"
            ))
        })?;
        let mut value: HeaderValue = value.parse().map_err(|_| {
            Failure::Usage(format!(
                "the environment variable `{variable}` is not a valid header value"
            ))
        })?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn needs_listen(option: &str) -> Failure {
    Failure::Usage(format!("`{option}` requires `--listen`: it applies to HTTP clients only"))
}
