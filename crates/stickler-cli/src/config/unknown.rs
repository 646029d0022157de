//! Errors for unknown keys in `stickler.toml`, with the probable key or the right table.

use stickler::MessageRule;

use super::document::{Data, Member};
use super::fault::{Fault, did_you_mean};
use super::table::{GROUPS, SETTINGS, Set};
use super::{draft, list};

/// Tables that are not settings, at the top level and in a server.
const TABLES: [&str; 2] = ["protocol_schema", "servers"];
const TABLES_OF_A_SERVER: [&str; 2] = ["env", "headers"];

/// Returns the error for an unknown key. `within` is the path of its table with a trailing dot; `is_for_all` is
/// false in the table of a server.
pub(super) fn setting(within: &str, member: &Member, is_for_all: bool) -> Fault {
    let key = &member.key;
    if within.starts_with("policy.") && within != "policy." {
        return Fault::new(&member.key_span, rule(key));
    }
    if within == "policy." && did_you_mean(key, ["client", "server"]).is_empty() {
        let message = format!(
            "`policy.{key}` is not a known setting; set rules in `[policy.client]` for \
             messages from the client and in `[policy.server]` for messages from the server"
        );
        return Fault::new(&member.key_span, message);
    }
    let known = known(within, is_for_all);
    let meant = in_another_table(key, is_for_all).unwrap_or_else(|| did_you_mean(key, known.all()));
    let meant = if meant.is_empty() { known.listed_for(member) } else { meant };
    Fault::new(&member.key_span, format!("`{within}{key}` is not a known setting{meant}"))
}

fn rule(key: &str) -> String {
    let rules = MessageRule::ALL.map(MessageRule::as_str);
    match did_you_mean(key, rules) {
        meant if meant.is_empty() => {
            format!(
                "`{key}` is not a known rule; known rules are {}",
                list(&rules.map(str::to_owned))
            )
        }
        meant => format!("`{key}` is not a known rule{meant}"),
    }
}

/// Returns the end of the sentence for a setting that exists in another table.
fn in_another_table(key: &str, is_for_all: bool) -> Option<String> {
    let same = SETTINGS.iter().find(|known| known.key.rsplit('.').next() == Some(key))?;
    let place = match same.set {
        _ if same.key.contains('.') => "",
        Set::Server(_) if !is_for_all => ", directly in the server's table",
        _ => ", at the top level of the file",
    };
    Some(format!("; did you mean `{}`{place}?", same.key))
}

/// Known names in a table.
struct Known {
    settings: Vec<&'static str>,
    tables: Vec<&'static str>,
}

fn known(within: &str, is_for_all: bool) -> Known {
    let directly = |name: &&'static str| !name.contains('.');
    let belongs = |set: Set| is_for_all || matches!(set, Set::Server(_));
    let settings = SETTINGS.iter().filter(|setting| belongs(setting.set)).map(|known| known.key);
    let settings = settings.filter_map(|key| key.strip_prefix(within)).filter(directly);
    let groups = GROUPS.into_iter().filter(|group| is_for_all || *group != "ui");
    let tables = groups.filter_map(|key| key.strip_prefix(within)).filter(directly);
    let mut known = Known { settings: settings.collect(), tables: tables.collect() };
    match (within, is_for_all) {
        ("", true) => known.tables.extend(TABLES),
        ("", false) => {
            known.tables.extend(TABLES_OF_A_SERVER);
            let keys = draft::KEYS.into_iter().filter(|key| !TABLES_OF_A_SERVER.contains(key));
            known.settings.extend(keys);
        }
        _ => {}
    }
    known
}

impl Known {
    fn all(&self) -> impl Iterator<Item = &'static str> {
        self.settings.iter().chain(&self.tables).copied()
    }

    /// Returns the end of the sentence for a name without a similar one.
    fn listed_for(&self, member: &Member) -> String {
        let (what, names) = match member.value.data {
            Data::Table(_) => ("tables", &self.tables),
            _ => ("settings", &self.settings),
        };
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => format!("; there are no {what} here"),
            names => format!("; known {what} here are {}", list(names)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::stickler_file::tests::faults;

    #[test]
    fn misplaced_setting_gets_its_table_suggested() {
        let text = "errors = 1\n[limits]\nlisten = ':0'\n[policy.cleint]\nbad-params = 'warn'\n\
            [servers.a]\ncommand = 'x'\n[servers.a.limits]\nrepair = 'off'\nlisten = ':0'\n";
        assert_eq!(
            faults(text),
            [
                "test.toml:1:1: `errors` is not a known setting; did you mean `limits.errors`?",
                "test.toml:3:1: `limits.listen` is not a known setting; did you mean `listen`, \
                 at the top level of the file?",
                "test.toml:4:9: `policy.cleint` is not a known setting; did you mean `client`?",
                "test.toml:9:1: `limits.repair` is not a known setting; did you mean `repair`, \
                 directly in the server's table?",
                "test.toml:10:1: `limits.listen` is not a known setting; did you mean `listen`, \
                 at the top level of the file?",
            ]
        );
    }

    #[test]
    fn unknown_key_without_a_similar_one_lists_the_known_keys() {
        let text = "[gateway]\n[limits.x]\n[policy]\nx = 1\n\
            [servers.a]\ncommand = 'x'\n[servers.a.gateway]\n";
        assert_eq!(
            faults(text),
            [
                "test.toml:1:2: `gateway` is not a known setting; \
                 known tables here are `ui`, `limits`, `policy`, `protocol_schema`, `servers`",
                "test.toml:2:9: `limits.x` is not a known setting; there are no tables here",
                "test.toml:4:1: `policy.x` is not a known setting; set rules in `[policy.client]` for messages from the client and in `[policy.server]` for messages from the server",
                "test.toml:7:12: `gateway` is not a known setting; \
                 known tables here are `limits`, `policy`, `env`, `headers`",
            ]
        );
        let messages = |text: &str| faults(text).concat();
        let (file, server) =
            (messages("colour = 2"), messages("[servers.a]\ncommand='x'\ncolour = 2"));
        for known in ["`listen`", "`repair`"] {
            assert!(file.contains(known), "{file}");
        }
        let rule = messages("[policy.client]\ncolour = 2");
        assert!(
            rule.contains("`colour` is not a known rule; known rules are `json-syntax`, "),
            "{rule}"
        );
        assert!(server.contains("`command`") && server.contains("`repair`"), "{server}");
        assert!(!server.contains("`listen`") && !server.contains("`env`"), "{server}");
    }
}
