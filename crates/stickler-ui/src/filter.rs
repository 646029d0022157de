//! The filter box: `tool:` `method:` `verdict:` `rule:` `server:` `client:` `text:` and plain words.
//!
//! All terms must match. A term that starts with `-` must not. A value with spaces is quoted. A plain word matches the
//! names of tools and methods.

use crate::index::row::{Flags, Outcome, Row};
use crate::index::session::Session;

/// A parsed filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    terms: Vec<Term>,
    /// Texts to look for in the messages.
    pub(crate) texts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    key: Key,
    /// In lower case.
    value: String,
    is_negated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Tool,
    Method,
    Verdict,
    Rule,
    Server,
    Client,
    Name,
}

impl Filter {
    /// Parses a filter; the error is a sentence for the person who types it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        for word in words(text) {
            let (is_negated, word) = match word.strip_prefix('-') {
                Some(rest) if !rest.is_empty() => (true, rest),
                _ => (false, word.as_str()),
            };
            let (key, value) = match word.split_once(':') {
                Some((key, value)) => (key, value),
                None => ("", word),
            };
            let key = match key {
                "tool" => Key::Tool,
                "method" => Key::Method,
                "verdict" => Key::Verdict,
                "rule" => Key::Rule,
                "server" => Key::Server,
                "client" => Key::Client,
                "text" if is_negated => return Err("`text:` cannot be negated".to_owned()),
                "text" => {
                    filter.texts.extend((!value.is_empty()).then(|| value.to_owned()));
                    continue;
                }
                "" => Key::Name,
                other => {
                    return Err(format!(
                        "`{other}:` is not a filter; use tool:, method:, verdict:, rule:, server:, client: or text:"
                    ));
                }
            };
            let value = value.to_lowercase();
            if key == Key::Verdict && !Outcome::ALL.iter().any(|one| one.name().starts_with(&value))
            {
                let names: Vec<&str> = Outcome::ALL.iter().map(|one| one.name()).collect();
                return Err(format!("`{value}` is not a verdict; use {}", names.join(", ")));
            }
            if !value.is_empty() {
                filter.terms.push(Term { key, value, is_negated });
            }
        }
        Ok(filter)
    }

    /// Whether a row satisfies all terms except the texts.
    pub(crate) fn matches(&self, session: &Session, row: &Row) -> bool {
        self.terms.iter().all(|term| term.matches(session, row) != term.is_negated)
    }
}

impl Term {
    fn matches(&self, session: &Session, row: &Row) -> bool {
        let label = || session.labels.get(row.label);
        match self.key {
            Key::Tool => row.flags.has(Flags::CALL) && self.is_in(label()),
            Key::Method if row.flags.has(Flags::CALL) => self.is_in("tools/call"),
            Key::Method | Key::Name => self.is_in(label()),
            Key::Verdict => row.outcome.name().starts_with(&self.value),
            Key::Rule => row.rule != 0 && self.is_in(session.rules.get(u16::from(row.rule))),
            Key::Server => self.is_in(&session.server),
            Key::Client => session.client.as_ref().is_some_and(|client| self.is_in(&client.name)),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        contains_ignoring_case(text.as_bytes(), self.value.as_bytes())
            || text.to_lowercase().contains(&self.value)
    }
}

fn contains_ignoring_case(text: &[u8], lower: &[u8]) -> bool {
    text.windows(lower.len().max(1)).any(|window| window.eq_ignore_ascii_case(lower))
}

/// Splits at spaces outside of quotes, and removes the quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in text.chars() {
        if character == '"' {
            is_quoted = !is_quoted;
        } else if character.is_whitespace() && !is_quoted {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::{Filter, words};

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words(r#" tool:read text:"a  b" x"#), ["tool:read", "text:a  b", "x"]);
        assert_eq!(words(r#"text:"open"#), ["text:open"]);
    }

    #[test]
    fn unknown_keys_and_verdicts_are_reported() {
        assert!(Filter::parse("colour:red").unwrap_err().contains("`colour:` is not a filter"));
        assert!(Filter::parse("verdict:bad").unwrap_err().contains("would-reject"));
        assert!(Filter::parse("-text:x").is_err());
        assert_eq!(Filter::parse("text:a text:b tool:").unwrap().texts, ["a", "b"]);
    }
}
