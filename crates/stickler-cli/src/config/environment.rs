//! `STICKLER_…`: every setting by its key in capitals, what is no letter or digit as `_`.

use clap::ValueEnum;
use stickler::{MessageRule, nearest_names};
use stickler_protocol::Side;

use super::Layer;
use super::given::{Expected, Given};
use super::settings::ServerSettings;
use super::table::{SETTINGS, Set, set_policy};
use crate::cli::LogOptions;
use crate::exit::Failure;
use crate::logging::{LogLevel, LogSettings};
use crate::protocol_schema::SchemaSource;

const PREFIX: &str = "STICKLER_";

/// A list of `REVISION=FILE`, separated by commas.
const SCHEMAS: &str = "STICKLER_PROTOCOL_SCHEMA";

const LEVEL: &str = "STICKLER_LOG";
const FORMAT: &str = "STICKLER_LOG_FORMAT";

/// Puts the environment over what is there.
pub(super) fn apply(layer: &mut Layer) -> Result<(), Failure> {
    for setting in SETTINGS {
        let name = variable(setting.key);
        let Some(value) = value(&name)? else { continue };
        let given = Given::Word(&value);
        let outcome = match setting.set {
            Set::Run(set) => set(&mut layer.run, given),
            Set::Server(set) => each(layer, |settings| set(settings, given)),
        };
        outcome.map_err(|expected| wrong(&name, &expected))?;
    }
    for (side, rule) in rules() {
        let name = variable(&format!("policy.{side}.{}", rule.as_str()));
        let Some(value) = value(&name)? else { continue };
        let given = Given::Word(&value);
        let outcome = each(layer, |settings| set_policy(settings, (side, rule), given));
        outcome.map_err(|expected| wrong(&name, &expected))?;
    }
    if let Some(schemas) = value(SCHEMAS)? {
        for one in schemas.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let source = one.parse::<SchemaSource>();
            let source = source.map_err(|reason| wrong(SCHEMAS, &Expected(reason)))?;
            layer.run.schemas.push(source);
        }
    }
    layer.notes.extend(misspelt(layer.run.token_env.as_deref()));
    Ok(())
}

/// What a command other than `run` logs, and how: its options are over the environment.
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

fn chosen<T: ValueEnum>(name: &str) -> Result<Option<T>, Failure> {
    let Some(value) = value(name)? else { return Ok(None) };
    Given::Word(&value).choice().map(Some).map_err(|expected| wrong(name, &expected))
}

/// All servers of the layer, those included that it does not name.
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

/// The variable of a setting.
fn variable(key: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    PREFIX.chars().chain(key.chars().map(plain)).collect()
}

fn value(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::Usage(format!("the variable `{name}` is not UTF-8")))
        }
    }
}

fn wrong(name: &str, Expected(expected): &Expected) -> Failure {
    Failure::Usage(format!("the variable `{name}` must be {expected}"))
}

/// Variables that are probably meant for us. Not an error: others may have theirs under that name,
/// the variable with the token for one.
fn misspelt(token: Option<&str>) -> Vec<(LogLevel, String)> {
    let settings = SETTINGS.iter().map(|setting| variable(setting.key));
    let policy = rules().map(|(side, rule)| variable(&format!("policy.{side}.{}", rule.as_str())));
    let known: Vec<String> = settings.chain(policy).chain([SCHEMAS.to_owned()]).collect();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let odd = names.filter(|name| {
        name.starts_with(PREFIX) && !known.contains(name) && Some(name.as_str()) != token
    });
    odd.filter_map(|name| {
        let rest = name.strip_prefix(PREFIX)?;
        let known = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
        let meant = *nearest_names(rest, known).first()?;
        let note = format!("the variable `{name}` is not used; did you mean `{PREFIX}{meant}`?");
        Some((LogLevel::Warn, note))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn variables_are_called_by_their_keys() {
        assert_eq!(variable("listen"), "STICKLER_LISTEN");
        assert_eq!(variable("limits.message_bytes"), "STICKLER_LIMITS_MESSAGE_BYTES");
        assert_eq!(variable("policy.client.bad-params"), "STICKLER_POLICY_CLIENT_BAD_PARAMS");
    }
}
