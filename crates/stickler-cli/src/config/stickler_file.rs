//! Reads `stickler.toml`.

use std::path::Path;

use super::Layer;
use super::document::{Data, Member, Value};
use super::draft::{self, Draft};
use super::fault::Fault;
use super::given::Given;
use super::settings::{RunSettings, ServerSettings};
use super::table::{GROUPS, SETTINGS, Set, invalid_value, policy_key, set_policy};
use super::unknown;
use crate::protocol_schema::SchemaSource;

/// What the servers of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Servers to run, which need a `command` or a `url`.
    Servers,
    /// Settings of routes of Envoy, which knows the upstreams.
    #[cfg_attr(not(feature = "extproc"), allow(dead_code, reason = "read by `extproc` and tests"))]
    Routes,
}

/// Reads the file and collects all errors.
pub(super) fn read(root: &Value, folder: &Path, purpose: Purpose) -> Result<Layer, Vec<Fault>> {
    let mut layer = Layer::default();
    let mut faults = Vec::new();
    let mut servers: &[Member] = &[];
    for member in root.table("the file").map_err(|fault| vec![fault])? {
        match (member.key.as_str(), member.value.table(&format!("`{}`", member.key))) {
            ("servers", Ok(members)) => servers = members,
            ("protocol_schema", Ok(members)) => {
                schemas(members, folder, &mut layer.run, &mut faults);
            }
            ("servers" | "protocol_schema", Err(fault)) => faults.push(fault),
            _ => {
                let mut target = Target { run: Some(&mut layer.run), server: &mut layer.base };
                target.set("", member, &mut faults);
            }
        }
    }
    for member in servers {
        match server(member, &layer.base, purpose, &mut faults) {
            Ok(draft) => layer.drafts.push(draft),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(layer) } else { Err(faults) }
}

/// Target of settings: the run and the defaults of all servers, or a single server.
struct Target<'t> {
    run: Option<&'t mut RunSettings>,
    server: &'t mut ServerSettings,
}

impl Target<'_> {
    fn set(&mut self, within: &str, member: &Member, faults: &mut Vec<Fault>) {
        let key = format!("{within}{}", member.key);
        if GROUPS.contains(&key.as_str()) {
            match member.value.table(&format!("`{key}`")) {
                Ok(members) => {
                    for one in members {
                        self.set(&format!("{key}."), one, faults);
                    }
                }
                Err(fault) => faults.push(fault),
            }
            return;
        }
        let given = Given::Value(&member.value);
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        let outcome = match (policy_key(&key), setting.map(|setting| setting.set)) {
            (Some((side, Some(rule))), _) => set_policy(self.server, (side, rule), given),
            (_, Some(Set::Server(set))) => set(self.server, given),
            (_, Some(Set::Run(set))) => {
                let Some(run) = &mut self.run else {
                    let message =
                        format!("`{key}` applies to the whole file, not to a single server");
                    return faults.push(Fault::new(&member.key_span, message));
                };
                set(run, given)
            }
            _ => return faults.push(unknown::setting(within, member, self.run.is_some())),
        };
        if let Err(expected) = outcome {
            faults.push(invalid_value(&key, &member.value, &expected));
        }
    }
}

/// Reads `[servers.NAME]`: how to reach the server, and its settings.
fn server(
    member: &Member,
    base: &ServerSettings,
    purpose: Purpose,
    faults: &mut Vec<Fault>,
) -> Result<Draft, Fault> {
    let members = member.value.table(&format!("`servers.{}`", member.key))?;
    let mut draft = Draft::new(member, base.clone())?;
    for one in members {
        if draft::KEYS.contains(&one.key.as_str()) {
            if let Err(fault) = draft.take(one) {
                faults.push(fault);
            }
        } else {
            Target { run: None, server: &mut draft.settings }.set("", one, faults);
        }
    }
    if purpose == Purpose::Servers || draft.is_reachable() {
        draft.check()?;
    }
    Ok(draft)
}

/// Reads `[protocol_schema]`: revisions with the locations of their official schemas.
fn schemas(members: &[Member], folder: &Path, run: &mut RunSettings, faults: &mut Vec<Fault>) {
    for member in members {
        let Data::Text(location) = &member.value.data else {
            let message = format!("`{}` must be a path or a URL in quotes", member.key);
            faults.push(Fault::new(&member.value.span, message));
            continue;
        };
        match SchemaSource::new(&member.key, location, folder) {
            Ok(source) => run.schemas.push(source),
            Err(reason) => faults.push(Fault::new(&member.key_span, reason)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Purpose, read};
    use crate::config::document;
    use crate::config::fault::Source;
    use crate::config::settings::{RunSettings, ServerSettings};
    use crate::config::table::SETTINGS;
    use std::path::Path;
    use stickler::MessageRule;
    use stickler_protocol::{Policy, RuleAction, Side};

    const PAGE: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md"));

    pub(crate) fn faults(text: &str) -> Vec<String> {
        let source = Source::of(text);
        let outcome =
            document::read(&source).and_then(|root| read(&root, Path::new("."), Purpose::Servers));
        let faults = outcome.map_or_else(|faults| faults, |_| Vec::new());
        faults.iter().map(|fault| source.describe(fault)).collect()
    }

    /// Returns the example of the page and the settings that are commented out in it.
    fn example() -> (String, String) {
        let (_, rest) = PAGE.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let is_code = |line: &&str| {
            line.starts_with("#[") || line.starts_with("#\"") || {
                line.starts_with('#') && !line.starts_with("# ") && line.contains('=')
            }
        };
        let hidden = example.lines().filter(is_code).map(|line| &line[1..]);
        (example.to_owned(), hidden.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn example_in_the_docs_lists_every_setting_with_its_default() {
        let (example, _) = example();
        assert_eq!(faults(&example), [""; 0]);
        let layer =
            read(&document::read(&Source::of(&example)).unwrap(), Path::new("."), Purpose::Servers)
                .unwrap();
        assert_eq!(layer.run, RunSettings::default());
        let (given, default) = (layer.base, ServerSettings::default());
        assert_eq!(given.validation(), default.validation());
        assert_eq!(given.connection(), default.connection());
        // An explicit default differs from an absent setting only in another mode.
        assert_eq!(ServerSettings { chosen: default.chosen, ..given }, default);
        let mut keys = SETTINGS.iter().map(|setting| setting.key.rsplit('.').next().unwrap());
        let missing =
            keys.find(|key| !example.lines().any(|line| line.starts_with(&format!("{key} ="))));
        assert_eq!(missing, None);
    }

    #[test]
    fn commented_settings_in_the_docs_are_valid() {
        let (_, hidden) = example();
        assert_eq!(faults(&hidden), [""; 0], "{hidden}");
        let layer =
            read(&document::read(&Source::of(&hidden)).unwrap(), Path::new("."), Purpose::Servers)
                .unwrap();
        let exceptions = &layer.base.exceptions;
        assert_eq!(exceptions.len(), 2 * MessageRule::ALL.len(), "every rule is on the page");
        for (side, rule, action) in exceptions {
            assert_eq!(*action, Policy::default().action(*side, *rule), "{side} {rule:?}");
        }
        assert_eq!(layer.drafts.len(), 2);
        assert_eq!(layer.run.schemas.len(), 1);
        assert!(layer.drafts[0].settings.strict && !layer.base.strict);
    }

    #[test]
    fn all_errors_are_reported_with_positions() {
        let text = "listn = ':0'\ngrace = 'long'\nstrict = 1\n[limits]\nerors = 1\n\
            [policy.client]\nbad-parms = 'warn'\nbad-params = 'never'\n\
            [servers.a]\ncomand = 'x'\nlisten = ''\n[servers.b]\n";
        assert_eq!(
            faults(text),
            [
                "test.toml:1:1: `listn` is not a known setting; did you mean `listen`?",
                "test.toml:2:9: `grace` must be a number of seconds",
                "test.toml:3:10: `strict` must be `true` or `false`",
                "test.toml:5:1: `limits.erors` is not a known setting; did you mean `errors`?",
                "test.toml:7:1: `bad-parms` is not a known rule; did you mean `bad-params`?",
                "test.toml:8:14: `policy.client.bad-params` must be one of \"enforce\", \"warn\", \"off\"",
                "test.toml:10:1: `comand` is not a known setting; did you mean `command`?",
                "test.toml:11:1: `listen` applies to the whole file, not to a single server",
                "test.toml:9:10: server `a` needs a `command` or a `url`",
                "test.toml:12:10: server `b` needs a `command` or a `url`",
            ]
        );
    }

    #[test]
    fn route_needs_neither_command_nor_url() {
        let text = "[servers.a]\nlearn_url = 'http://envoy/mcp'\n[servers.b]\nmode = 'observe'\n";
        let root = document::read(&Source::of(text)).unwrap();
        let layer = read(&root, Path::new("."), Purpose::Routes).unwrap();
        let urls: Vec<_> =
            layer.drafts.iter().map(|draft| draft.settings.learn_url.as_deref()).collect();
        assert_eq!(urls, [Some("http://envoy/mcp"), None]);
        assert!(read(&root, Path::new("."), Purpose::Servers).is_err());
    }

    #[test]
    fn server_settings_override_the_defaults() {
        let text = "repair = 'off'\n[servers.a]\ncommand = 'x'\nrepair = 'apply'\n\
            policy.server.STK-109 = 'enforce'\n[servers.b]\nurl = 'http://x/mcp'\n";
        let layer =
            read(&document::read(&Source::of(text)).unwrap(), Path::new("."), Purpose::Servers)
                .unwrap();
        let [a, b] = layer.drafts.as_slice() else { panic!("two servers") };
        assert_eq!(a.settings.validation().repair, stickler::Repair::Apply);
        assert_eq!(b.settings.validation().repair, stickler::Repair::Off);
        let action = |settings: &ServerSettings| {
            settings.policy().action(Side::Server, MessageRule::InvalidResult)
        };
        assert_eq!(
            (action(&a.settings), action(&b.settings)),
            (RuleAction::Enforce, RuleAction::Warn)
        );
    }
}
