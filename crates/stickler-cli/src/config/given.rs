//! One value, from a file or from the environment, as the setting wants it.

use std::time::Duration;

use clap::ValueEnum;

use super::document::{Data, Value};

/// Longer than anybody waits, and short enough to be counted with.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

pub(super) const ADDRESS: &str = "a host and a port, such as 127.0.0.1:8787";

/// What a browser sends.
pub(super) const ORIGINS: &str =
    "origins such as \"https://app.example\", without a path, or \"*\" for all";

/// What somebody wants a setting to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'g> {
    /// In a file, where numbers are numbers.
    Value(&'g Value),
    /// In the environment, where everything is text.
    Word(&'g str),
}

/// What was expected instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected(pub(super) String);

/// What is expected where there can be several texts.
pub(super) const TEXTS: &str = "a list of texts, such as [\"a\", \"b\"]";

type Outcome<T> = Result<T, Expected>;

impl Given<'_> {
    pub(super) fn text(self) -> Outcome<String> {
        match self {
            Self::Value(Value { data: Data::Text(text), .. }) => Ok(text.clone()),
            Self::Word(word) => Ok(word.to_owned()),
            Self::Value(_) => expected("text in quotes"),
        }
    }

    /// Text, or nothing where it is empty.
    pub(super) fn some_text(self) -> Outcome<Option<String>> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// Several texts; words are separated by commas.
    pub(super) fn texts(self) -> Outcome<Vec<String>> {
        let texts = match self {
            Self::Word(word) => {
                let words = word.split(',').map(str::trim).filter(|word| !word.is_empty());
                return Ok(words.map(str::to_owned).collect());
            }
            Self::Value(Value { data: Data::List(elements), .. }) => {
                elements.iter().map(|element| Given::Value(element).text()).collect()
            }
            Self::Value(_) => expected(""),
        };
        texts.or_else(|_: Expected| expected(TEXTS))
    }

    pub(super) fn flag(self) -> Outcome<bool> {
        match self {
            Self::Value(Value { data: Data::Flag(flag), .. }) => Ok(*flag),
            Self::Word("true" | "1") => Ok(true),
            Self::Word("false" | "0") => Ok(false),
            _ => expected("`true` or `false`"),
        }
    }

    /// A whole number that fits.
    pub(super) fn whole<T: TryFrom<u64>>(self) -> Outcome<T> {
        let number = self.digits().and_then(|digits| digits.parse::<u64>().ok());
        let fits = number.and_then(|number| T::try_from(number).ok());
        fits.map_or_else(|| expected("a whole number, not negative"), Ok)
    }

    /// A whole number of things that there must be.
    pub(super) fn positive<T: TryFrom<u64>>(self) -> Outcome<T> {
        let is_none = self.digits().is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
        if is_none { expected("a whole number above 0") } else { self.whole() }
    }

    /// A time in seconds, which may have a fraction.
    pub(super) fn seconds(self) -> Outcome<Duration> {
        let seconds = self.digits().and_then(|digits| digits.parse::<f64>().ok());
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match duration {
            Some(duration) if duration <= LONGEST => Ok(duration),
            Some(_) => expected(&format!("at most {} seconds", LONGEST.as_secs())),
            None => expected("a number of seconds"),
        }
    }

    /// Where clients come to: a host and a port.
    pub(super) fn address(self) -> Outcome<Option<String>> {
        let address = self.some_text()?;
        let is_one = |address: &String| {
            let parts = address.rsplit_once(':');
            parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        if address.as_ref().is_none_or(is_one) { Ok(address) } else { expected(ADDRESS) }
    }

    /// Pages that may come here.
    pub(super) fn origins(self) -> Outcome<Vec<String>> {
        let origins = self.texts()?;
        let is_one = |origin: &String| {
            let host = origin.split_once("://").map(|(_, host)| host);
            origin == "*" || host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*']))
        };
        if origins.iter().all(is_one) { Ok(origins) } else { expected(ORIGINS) }
    }

    /// One of the words that the command line knows too.
    pub(super) fn choice<T: ValueEnum>(self) -> Outcome<T> {
        let word = self.text().ok();
        let chosen = word.and_then(|word| T::from_str(&word, false).ok());
        chosen.map_or_else(
            || {
                let all = T::value_variants().iter().filter_map(T::to_possible_value);
                let names: Vec<String> = all.map(|one| format!("\"{}\"", one.get_name())).collect();
                expected(&format!("one of {}", names.join(", ")))
            },
            Ok,
        )
    }

    fn digits(&self) -> Option<&str> {
        match self {
            Self::Value(Value { data: Data::Number(digits), .. }) => Some(digits),
            Self::Word(word) => Some(word.trim()),
            Self::Value(_) => None,
        }
    }
}

pub(super) fn expected<T>(what: &str) -> Outcome<T> {
    Err(Expected(what.to_owned()))
}
