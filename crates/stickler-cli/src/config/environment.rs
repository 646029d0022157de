//! Settings from environment variables: `STICKLER_` and the key in upper case, with `_` for other characters.

use clap::ValueEnum;
use stickler::{MessageRule, nearest_names};
use stickler_protocol::Side;

use super::Layer;
use super::given::{Expected, Given};
use super::settings::ServerSettings;
use super::table::{SETTINGS, Set, set_policy};
use crate::cli::LogOptions;
#[cfg(feature = "serve")]
use crate::cli::Mode;
use crate::exit::Failure;
use crate::logging::{LogLevel, LogSettings};
use crate::protocol_schema::SchemaSource;

const PREFIX: &str = "STICKLER_";

/// Comma-separated list of `REVISION=FILE`.
const SCHEMAS: &str = "STICKLER_PROTOCOL_SCHEMA";

const LEVEL: &str = "STICKLER_LOG";
const FORMAT: &str = "STICKLER_LOG_FORMAT";
#[cfg(feature = "serve")]
const MODE: &str = "STICKLER_MODE";

/// Applies the environment variables to a layer.
pub(super) fn apply(layer: &mut Layer) -> Result<(), Failure> {
    for setting in SETTINGS {
        let name = variable(setting.key);
        let Some(value) = value(&name)? else { continue };
        let given = Given::Word(&value);
        let outcome = match setting.set {
            Set::Run(set) => set(&mut layer.run, given),
            Set::Server(set) => each(layer, |settings| set(settings, given)),
        };
        outcome.map_err(|expected| invalid_variable(&name, &expected))?;
    }
    for (side, rule) in rules() {
        let name = variable(&format!("policy.{side}.{}", rule.as_str()));
        let Some(value) = value(&name)? else { continue };
        let given = Given::Word(&value);
        let outcome = each(layer, |settings| set_policy(settings, (side, rule), given));
        outcome.map_err(|expected| invalid_variable(&name, &expected))?;
    }
    if let Some(schemas) = value(SCHEMAS)? {
        for one in schemas.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let source = one.parse::<SchemaSource>();
            let source = source.map_err(|reason| invalid_variable(SCHEMAS, &Expected(reason)))?;
            layer.run.schemas.push(source);
        }
    }
    layer.notes.extend(unknown_variables(layer.run.token_env.as_deref()));
    Ok(())
}

/// Returns the log settings of a command other than `run`: options take precedence over the environment.
pub(crate) fn log_settings(options: LogOptions) -> Result<LogSettings, Failure> {
    let defaults = LogSettings::default();
    let level = match options.log {
        Some(level) => level,
        None => chosen(LEVEL)?.unwrap_or(defaults.level),
    };
    let format = match options.log_format {
        Some(format) => format,
        None => chosen(FORMAT)?.unwrap_or(defaults.format),
    };
    Ok(LogSettings { level, format })
}

/// Returns the mode of a command other than `run`: the option takes precedence over the environment.
#[cfg(feature = "serve")]
pub(crate) fn mode(option: Option<Mode>) -> Result<Option<Mode>, Failure> {
    if option.is_some() { Ok(option) } else { chosen(MODE) }
}

fn chosen<T: ValueEnum>(name: &str) -> Result<Option<T>, Failure> {
    let Some(value) = value(name)? else { return Ok(None) };
    Given::Word(&value).choice().map(Some).map_err(|expected| invalid_variable(name, &expected))
}

/// Applies a setting to all servers, including one that the layer does not name.
fn each(
    layer: &mut Layer,
    mut set: impl FnMut(&mut ServerSettings) -> Result<(), Expected>,
) -> Result<(), Expected> {
    set(&mut layer.base)?;
    layer.drafts.iter_mut().try_for_each(|draft| set(&mut draft.settings))
}

fn rules() -> impl Iterator<Item = (Side, MessageRule)> {
    [Side::Client, Side::Server]
        .into_iter()
        .flat_map(|side| MessageRule::ALL.map(|rule| (side, rule)))
}

/// Returns the name of the environment variable of a setting.
fn variable(key: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    PREFIX.chars().chain(key.chars().map(plain)).collect()
}

fn value(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::Usage(format!("the environment variable `{name}` is not UTF-8")))
        }
    }
}

fn invalid_variable(name: &str, Expected(expected): &Expected) -> Failure {
    Failure::Usage(format!("the environment variable `{name}` must be {expected}"))
}

/// Returns notes on variables that are probably misspelt. They are not errors, because other programs may
/// use the prefix, as may the variable with the bearer token.
fn unknown_variables(token: Option<&str>) -> Vec<(LogLevel, String)> {
    let settings = SETTINGS.iter().map(|setting| variable(setting.key));
    let policy = rules().map(|(side, rule)| variable(&format!("policy.{side}.{}", rule.as_str())));
    let known: Vec<String> = settings.chain(policy).chain([SCHEMAS.to_owned()]).collect();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = names.filter(|name| {
        name.starts_with(PREFIX) && !known.contains(name) && Some(name.as_str()) != token
    });
    unknown
        .filter_map(|name| {
            let rest = name.strip_prefix(PREFIX)?;
            let known = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
            let meant = *nearest_names(rest, known).first()?;
            let note =
                format!("unknown environment variable `{name}`; did you mean `{PREFIX}{meant}`?");
            Some((LogLevel::Warn, note))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn variable_names_are_derived_from_keys() {
        assert_eq!(variable("listen"), "STICKLER_LISTEN");
        assert_eq!(variable("limits.message_bytes"), "STICKLER_LIMITS_MESSAGE_BYTES");
        assert_eq!(variable("policy.client.bad-params"), "STICKLER_POLICY_CLIENT_BAD_PARAMS");
    }
}
