//! A name in `stickler.toml` that is no setting: what was meant, or where it belongs.

use stickler::MessageRule;

use super::document::{Data, Member};
use super::draft;
use super::fault::{Fault, did_you_mean};
use super::table::{GROUPS, SETTINGS};

/// What is no setting but a table of its own.
const TABLES: [&str; 2] = ["protocol_schema", "servers"];

/// `within` is the table that it stands in, with a dot behind it, for the whole file or one server.
pub(super) fn setting(within: &str, member: &Member, is_for_all: bool) -> Fault {
    let key = &member.key;
    if within.starts_with("policy.") && within != "policy." {
        let meant = did_you_mean(key, MessageRule::ALL.map(MessageRule::as_str));
        return Fault::new(&member.key_span, format!("`{key}` is no rule{meant}"));
    }
    let meant = in_another_table(key).unwrap_or_else(|| near(within, key, is_for_all));
    let meant = if meant.is_empty() { the_tables(member) } else { meant };
    Fault::new(&member.key_span, format!("`{within}{key}` is not a known setting{meant}"))
}

/// The end of a sentence about a setting that stands in the wrong table.
fn in_another_table(key: &str) -> Option<String> {
    let is_same = |known: &&str| known.rsplit('.').next() == Some(key);
    let same = SETTINGS.iter().map(|setting| setting.key).find(is_same)?;
    let place = if same.contains('.') { "" } else { ", above all tables" };
    Some(format!("; did you mean `{same}`{place}?"))
}

/// The end of a sentence about a name that is nearly one that can stand there.
fn near(within: &str, key: &str, is_for_all: bool) -> String {
    let settings = SETTINGS.iter().map(|setting| setting.key);
    let known = settings.chain(GROUPS).filter_map(|known| known.strip_prefix(within));
    let mut known: Vec<&str> = known.filter(|known| !known.contains('.')).collect();
    if within.is_empty() {
        known.extend(if is_for_all { &TABLES[..] } else { &draft::KEYS[..] });
    }
    did_you_mean(key, known)
}

/// The end of a sentence about a table that is like none.
fn the_tables(member: &Member) -> String {
    match member.value.data {
        Data::Table(_) => "; the tables are `[limits]`, `[policy.client]`, `[policy.server]`, \
            `[protocol_schema]` and `[servers.NAME]`, and all else stands above them"
            .to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, TABLES};
    use crate::config::own_file::tests::faults;

    #[test]
    fn what_stands_in_the_wrong_place_is_told_the_right_one() {
        let tables = "the tables are `[limits]`, `[policy.client]`, `[policy.server]`, \
            `[protocol_schema]` and `[servers.NAME]`, and all else stands above them";
        assert_eq!(
            faults(
                "errors = 1\ncolour = 2\n[limits]\nlisten = ':0'\n[gateway]\nlisten = ':0'\n\
                 [policy.cleint]\nbad-params = 'warn'\n"
            ),
            [
                "test.toml:1:1: `errors` is not a known setting; did you mean `limits.errors`?",
                "test.toml:2:1: `colour` is not a known setting",
                "test.toml:4:1: `limits.listen` is not a known setting; did you mean `listen`, above all tables?",
                &format!("test.toml:5:2: `gateway` is not a known setting; {tables}"),
                "test.toml:7:9: `policy.cleint` is not a known setting; did you mean `client`?",
            ]
        );
        for table in GROUPS.iter().filter(|group| **group != "policy").chain(&TABLES) {
            assert!(tables.contains(&format!("`[{table}")), "{table}");
        }
    }
}
