//! `docs/rules.md`, made from the table of rules.

use std::fmt::Write as _;

use stickler::rules;

use crate::Outcome;
use crate::paths;

const INTRODUCTION: &str = "\
# Codes and rules

What Stickler says about calls and messages, why it matters and how to mend it. `stickler explain \
CODE` prints the same. Made by `cargo xtask rules` from `crates/stickler/src/rules/`; do not edit \
by hand.
";

pub(crate) fn write() -> Outcome {
    let path = paths::root().join("docs/rules.md");
    std::fs::write(&path, page()).map_err(|error| format!("{}: {error}", path.display()))
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for rule in rules::all() {
        let _ = write!(
            page,
            "\n## {}\n\n**{}**: {}.\n\n{}\n\n*How to mend it:* {}\n",
            rule.id, rule.severity, rule.summary, rule.why, rule.mend
        );
        if let Some(code) = rule.json_rpc {
            let _ = write!(page, "\nAnswered with JSON-RPC code `{code}`.\n");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{page, paths};

    #[test]
    fn the_page_is_what_the_table_says() {
        let written = std::fs::read_to_string(paths::root().join("docs/rules.md")).unwrap();
        assert!(written == page(), "run `cargo xtask rules`");
    }
}
