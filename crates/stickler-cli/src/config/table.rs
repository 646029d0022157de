//! Every setting by its key, with the function that sets it.

use std::path::PathBuf;
use std::time::Duration;

use stickler::MessageRule;
use stickler_protocol::{RuleAction, Side};

use super::document::{Data, Value};
use super::fault::Fault;
use super::given::{Expected, Given, ORIGINS, TEXTS, expected};
use super::settings::{RunSettings, ServerSettings, WithoutTools};
use crate::cli::{Answer, Formats, Help, Mode, Repair, RestartWhen, UnknownFields};

/// A setting.
pub(super) struct Setting {
    /// Key in `stickler.toml`.
    pub(super) key: &'static str,
    pub(super) set: Set,
}

type Outcome = Result<(), Expected>;

/// Scope of a setting, with its setter.
#[derive(Clone, Copy)]
pub(super) enum Set {
    /// Applies to the run.
    Run(fn(&mut RunSettings, Given<'_>) -> Outcome),
    /// Applies to a server; at the top level it is the default of all servers.
    Server(fn(&mut ServerSettings, Given<'_>) -> Outcome),
}

/// Tables that contain settings.
pub(super) const GROUPS: [&str; 5] = ["ui", "limits", "policy", "policy.client", "policy.server"];

const fn run(key: &'static str, set: fn(&mut RunSettings, Given<'_>) -> Outcome) -> Setting {
    Setting { key, set: Set::Run(set) }
}

const fn server(key: &'static str, set: fn(&mut ServerSettings, Given<'_>) -> Outcome) -> Setting {
    Setting { key, set: Set::Server(set) }
}

fn put<T>(place: &mut T, value: Result<T, Expected>) -> Outcome {
    *place = value?;
    Ok(())
}

/// All settings except those of the policy; its keys are rules.
pub(super) const SETTINGS: &[Setting] = &[
    run("listen", |s, given| put(&mut s.listen, given.address())),
    run("admin_listen", |s, given| put(&mut s.admin_listen, given.address())),
    run("path", |s, given| put(&mut s.path, path(given))),
    run("allow_origins", |s, given| put(&mut s.origins, given.origins())),
    run("bearer_token_env", |s, given| put(&mut s.token_env, given.some_text())),
    run("log", |s, given| put(&mut s.log.level, given.choice())),
    run("log_format", |s, given| put(&mut s.log.format, given.choice())),
    run("summary", |s, given| put(&mut s.summary, given.choice())),
    run("record", |s, given| put(&mut s.record.directory, file_path(given))),
    run("record_rotate_bytes", |s, given| put(&mut s.record.rotate_bytes, given.positive())),
    run("record_max_age", |s, given| put(&mut s.record.max_age, given.seconds())),
    run("record_max_bytes", |s, given| put(&mut s.record.max_bytes, given.integer())),
    run("otel_endpoint", |s, given| put(&mut s.otel_endpoint, given.some_text())),
    run("otel_inject_context", |s, given| put(&mut s.otel_inject_context, given.flag())),
    run("ui.listen", |s, given| put(&mut s.ui.listen, given.address())),
    run("max_connections", |s, given| put(&mut s.max_connections, given.positive())),
    run("body_timeout", |s, given| put(&mut s.body_timeout, positive_seconds(given))),
    run("max_waiting_bytes", |s, given| put(&mut s.max_waiting_bytes, given.positive())),
    run("ui.directory", |s, given| put(&mut s.ui.directory, file_path(given))),
    run("learn_secret_env", |s, given| put(&mut s.processor.learn_secret_env, given.some_text())),
    run("tls_cert", |s, given| put(&mut s.processor.tls_cert, file_path(given))),
    run("tls_key", |s, given| put(&mut s.processor.tls_key, file_path(given))),
    run("client_ca", |s, given| put(&mut s.processor.client_ca, file_path(given))),
    server("learn_url", |s, given| put(&mut s.learn_url, given.some_text())),
    server("record_values", |s, given| put(&mut s.record_values, given.choice())),
    server("neutral_headers", |s, given| put(&mut s.neutral_headers, given.texts())),
    server("idle_timeout", |s, given| put(&mut s.idle, given.seconds())),
    server("keep_alive", |s, given| put(&mut s.keep_alive, positive_seconds(given))),
    server("max_children", |s, given| put(&mut s.children, given.positive())),
    server("max_sessions", |s, given| put(&mut s.sessions, given.integer())),
    server("grace", |s, given| put(&mut s.grace, given.seconds())),
    server("request_timeout", |s, given| {
        put(&mut s.connection.request_timeout, optional_seconds(given))
    }),
    server("restart", |s, given| {
        put(&mut s.restart.when, given.choice::<RestartWhen>().map(Into::into))
    }),
    server("restart_pause", |s, given| put(&mut s.restart.pause, given.seconds())),
    server("restart_limit", |s, given| put(&mut s.restart.limit, given.integer())),
    server("mode", |s, given| put(&mut s.mode, given.choice::<Mode>().map(Into::into))),
    server("strict", |s, given| put(&mut s.strict, given.flag())),
    server("answer", |s, given| put(&mut s.answer, given.choice::<Answer>().map(Into::into))),
    server("retry_limit", |s, given| put(&mut s.retry_limit, given.integer())),
    server("unknown_fields", |s, given| {
        let choice = given.choice::<UnknownFields>();
        put(&mut s.chosen.unknown_fields, choice.map(|choice| Some(choice.into())))
    }),
    server("formats", |s, given| {
        put(&mut s.validation.formats, given.choice::<Formats>().map(Into::into))
    }),
    server("repair", |s, given| {
        put(&mut s.chosen.repair, given.choice::<Repair>().map(|choice| Some(choice.into())))
    }),
    server("enhance_errors", |s, given| put(&mut s.chosen.enhance_errors, given.flag().map(Some))),
    server("help", |s, given| put(&mut s.validation.help, given.choice::<Help>().map(Into::into))),
    server("help_token_budget", |s, given| {
        put(&mut s.validation.help_token_budget, given.integer())
    }),
    server("suggestion_distance", |s, given| {
        put(&mut s.validation.suggestion_distance, given.integer())
    }),
    server("mask", |s, given| put(&mut s.validation.mask_values, given.flag())),
    server("injected_keys", |s, given| put(&mut s.validation.injected_keys, given.texts())),
    server("documentation_url", |s, given| {
        put(&mut s.validation.documentation_url, given.some_text())
    }),
    server("announce", |s, given| put(&mut s.chosen.announce, given.flag().map(Some))),
    server("ask_for_tools", |s, given| put(&mut s.connection.fetch_tools, given.flag())),
    server("calls_without_tools", |s, given| {
        let choice = given.choice::<WithoutTools>();
        put(&mut s.connection.hold_calls, choice.map(|choice| choice == WithoutTools::Wait))
    }),
    server("longest_wait", |s, given| put(&mut s.connection.max_hold_time, given.seconds())),
    server("fresh_enough", |s, given| put(&mut s.connection.max_list_age, given.seconds())),
    server("pause_after_failure", |s, given| put(&mut s.connection.fetch_backoff, given.seconds())),
    server("limits.message_bytes", |s, given| {
        put(&mut s.validation.limits.message_bytes, given.positive())
    }),
    server("limits.message_depth", |s, given| {
        put(&mut s.validation.limits.message_depth, given.positive())
    }),
    server("limits.requests_in_flight", |s, given| {
        put(&mut s.validation.limits.requests_in_flight, given.positive())
    }),
    server("limits.tools_per_server", |s, given| {
        put(&mut s.validation.limits.tools_per_server, given.integer())
    }),
    server("limits.schema_bytes", |s, given| {
        put(&mut s.validation.limits.schema_bytes, given.integer())
    }),
    server("limits.schema_depth", |s, given| {
        put(&mut s.validation.limits.schema_depth, given.integer())
    }),
    server("limits.schema_nodes", |s, given| {
        put(&mut s.validation.limits.schema_nodes, given.integer())
    }),
    server("limits.pattern_bytes", |s, given| {
        put(&mut s.validation.limits.pattern_bytes, given.integer())
    }),
    server("limits.compiled_bytes_per_server", |s, given| {
        put(&mut s.validation.limits.compiled_bytes_per_server, given.integer())
    }),
    server("limits.compiled_bytes", |s, given| {
        put(&mut s.validation.limits.compiled_bytes, given.integer())
    }),
    server("limits.pattern_backtracks", |s, given| {
        put(&mut s.validation.limits.pattern_backtracks, given.integer())
    }),
    server("limits.verdict_steps", |s, given| {
        put(&mut s.validation.limits.verdict_steps, given.positive())
    }),
    server("limits.explain_steps", |s, given| {
        put(&mut s.validation.limits.explain_steps, given.integer())
    }),
    server("limits.errors", |s, given| put(&mut s.validation.limits.errors, given.integer())),
];

/// Parses a key of the policy into the sender of the message and the rule.
pub(super) fn policy_key(key: &str) -> Option<(Side, Option<MessageRule>)> {
    let (side, rule) = key.strip_prefix("policy.")?.split_once('.')?;
    let side = match side {
        "client" => Side::Client,
        "server" => Side::Server,
        _ => return None,
    };
    Some((side, MessageRule::parse(rule)))
}

pub(super) fn set_policy(
    settings: &mut ServerSettings,
    (side, rule): (Side, MessageRule),
    given: Given<'_>,
) -> Outcome {
    let action = given.text().ok().and_then(|name| RuleAction::parse(&name));
    let Some(action) = action else {
        return expected("one of \"enforce\", \"warn\", \"off\"");
    };
    settings.exceptions.retain(|(s, r, _)| (*s, *r) != (side, rule));
    settings.exceptions.push((side, rule, action));
    Ok(())
}

/// Returns the error for a value that a setting does not accept.
pub(super) fn invalid_value(key: &str, value: &Value, expected: &Expected) -> Fault {
    let Expected(expected) = expected;
    let message = match &value.data {
        // The type is right; an element is not.
        Data::List(elements) if expected == TEXTS => {
            if let Some(fault) = non_string_element(key, elements) {
                return fault;
            }
            format!("`{key}` must be {expected}")
        }
        Data::List(_) if expected == ORIGINS => format!("`{key}` must be {expected}"),
        // The type may be right and the value out of range, so the type is not mentioned.
        Data::Text(_) | Data::Number(_) => format!("`{key}` must be {expected}"),
        _ => format!("`{key}` is {}, expected {expected}", value.kind()),
    };
    Fault::new(&value.span, message)
}

/// Returns the error for the first element that is not a string, counted from 1.
fn non_string_element(key: &str, elements: &[Value]) -> Option<Fault> {
    let is_text = |element: &Value| matches!(element.data, Data::Text(_));
    let index = elements.iter().position(|element| !is_text(element))?;
    let element = elements.get(index)?;
    let (number, kind) = (index + 1, element.kind());
    let message = format!("element {number} of `{key}` is {kind}, expected a string in quotes");
    Some(Fault::new(&element.span, message))
}

/// Parses the HTTP path of the MCP endpoint.
pub(super) fn path(given: Given<'_>) -> Result<String, Expected> {
    let path = given.text()?;
    let is_path = |path: &str| {
        path.starts_with('/')
            && !path.ends_with('/')
            && path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#%\\".contains(&byte))
    };
    if is_path(&path) && !["/healthz", "/readyz", "/metrics"].contains(&path.as_str()) {
        return Ok(path);
    }
    expected(
        "a path such as \"/mcp\" that starts with `/`, does not end with `/`, contains no special \
         characters and is not `/healthz`, `/readyz` or `/metrics`",
    )
}

/// Parses a path of a file or directory; `~/` is the home directory.
fn file_path(given: Given<'_>) -> Result<Option<PathBuf>, Expected> {
    let Some(text) = given.some_text()? else { return Ok(None) };
    let home = text.strip_prefix("~/").and_then(|rest| Some((std::env::home_dir()?, rest)));
    Ok(Some(home.map_or_else(|| PathBuf::from(&text), |(home, rest)| home.join(rest))))
}

/// Parses a duration; zero means no limit.
fn optional_seconds(given: Given<'_>) -> Result<Option<Duration>, Expected> {
    Ok(Some(given.seconds()?).filter(|time| !time.is_zero()))
}

/// Parses a duration that must not be zero, such as the interval of a timer.
pub(super) fn positive_seconds(given: Given<'_>) -> Result<Duration, Expected> {
    let time = given.seconds()?;
    if time.is_zero() { expected("a positive number of seconds") } else { Ok(time) }
}
