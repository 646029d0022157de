//! A name in `stickler.toml` that is no setting: what was meant, or where it belongs.

use stickler::MessageRule;

use super::document::{Data, Member};
use super::fault::{Fault, did_you_mean};
use super::table::{GROUPS, SETTINGS, Set};
use super::{draft, list};

/// What is no setting but a table of its own, in the file and in a server.
const TABLES: [&str; 2] = ["protocol_schema", "servers"];
const TABLES_OF_A_SERVER: [&str; 2] = ["env", "headers"];

/// `within` is the table that it stands in, with a dot behind it, of the whole file or of one server.
pub(super) fn setting(within: &str, member: &Member, is_for_all: bool) -> Fault {
    let key = &member.key;
    if within.starts_with("policy.") && within != "policy." {
        return Fault::new(&member.key_span, rule(key));
    }
    if within == "policy." && did_you_mean(key, ["client", "server"]).is_empty() {
        let message = format!(
            "`policy.{key}` is not a known setting; rules are set in `[policy.client]` for what the \
             client sends, and in `[policy.server]` for what the server does"
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
            format!("`{key}` is no rule; the rules are {}", list(&rules.map(str::to_owned)))
        }
        meant => format!("`{key}` is no rule{meant}"),
    }
}

/// The end of a sentence about a setting that stands in the wrong table.
fn in_another_table(key: &str, is_for_all: bool) -> Option<String> {
    let same = SETTINGS.iter().find(|known| known.key.rsplit('.').next() == Some(key))?;
    let place = match same.set {
        _ if same.key.contains('.') => "",
        Set::Server(_) if !is_for_all => ", directly in the server's table",
        _ => ", above all tables",
    };
    Some(format!("; did you mean `{}`{place}?", same.key))
}

/// What can stand in a table.
struct Known {
    settings: Vec<&'static str>,
    tables: Vec<&'static str>,
}

fn known(within: &str, is_for_all: bool) -> Known {
    let directly = |name: &&'static str| !name.contains('.');
    let belongs = |set: Set| is_for_all || matches!(set, Set::Server(_));
    let settings = SETTINGS.iter().filter(|setting| belongs(setting.set)).map(|known| known.key);
    let settings = settings.filter_map(|key| key.strip_prefix(within)).filter(directly);
    let tables = GROUPS.into_iter().filter_map(|key| key.strip_prefix(within)).filter(directly);
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

    /// The end of a sentence about a name that is like none.
    fn listed_for(&self, member: &Member) -> String {
        let (what, names) = match member.value.data {
            Data::Table(_) => ("tables", &self.tables),
            _ => ("settings", &self.settings),
        };
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => format!("; there are no {what} here"),
            names => format!("; the {what} here are {}", list(names)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::own_file::tests::faults;

    #[test]
    fn what_stands_in_the_wrong_place_is_told_the_right_one() {
        let text = "errors = 1\n[limits]\nlisten = ':0'\n[policy.cleint]\nbad-params = 'warn'\n\
            [servers.a]\ncommand = 'x'\n[servers.a.limits]\nrepair = 'off'\nlisten = ':0'\n";
        assert_eq!(
            faults(text),
            [
                "test.toml:1:1: `errors` is not a known setting; did you mean `limits.errors`?",
                "test.toml:3:1: `limits.listen` is not a known setting; did you mean `listen`, \
                 above all tables?",
                "test.toml:4:9: `policy.cleint` is not a known setting; did you mean `client`?",
                "test.toml:9:1: `limits.repair` is not a known setting; did you mean `repair`, \
                 directly in the server's table?",
                "test.toml:10:1: `limits.listen` is not a known setting; did you mean `listen`, \
                 above all tables?",
            ]
        );
    }

    #[test]
    fn what_is_like_nothing_is_told_what_there_is() {
        let text = "[gateway]\n[limits.x]\n[policy]\nx = 1\n\
            [servers.a]\ncommand = 'x'\n[servers.a.gateway]\n";
        assert_eq!(
            faults(text),
            [
                "test.toml:1:2: `gateway` is not a known setting; \
                 the tables here are `limits`, `policy`, `protocol_schema`, `servers`",
                "test.toml:2:9: `limits.x` is not a known setting; there are no tables here",
                "test.toml:4:1: `policy.x` is not a known setting; rules are set in `[policy.client]` for what the client sends, and in `[policy.server]` for what the server does",
                "test.toml:7:12: `gateway` is not a known setting; \
                 the tables here are `limits`, `policy`, `env`, `headers`",
            ]
        );
        let told = |text: &str| faults(text).concat();
        let (file, server) = (told("colour = 2"), told("[servers.a]\ncommand='x'\ncolour = 2"));
        for known in ["`listen`", "`repair`"] {
            assert!(file.contains(known), "{file}");
        }
        let rule = told("[policy.client]\ncolour = 2");
        assert!(rule.contains("`colour` is no rule; the rules are `json-syntax`, "), "{rule}");
        assert!(server.contains("`command`") && server.contains("`repair`"), "{server}");
        assert!(!server.contains("`listen`") && !server.contains("`env`"), "{server}");
    }
}
