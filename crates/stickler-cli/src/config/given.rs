//! Converts a value from a file or from the environment to the type of a setting.

use std::time::Duration;

use clap::ValueEnum;

use super::document::{Data, Value};

/// Upper limit of durations, so that deadlines cannot overflow.
const MAX_DURATION: Duration = Duration::from_secs(1_000_000_000);

pub(super) const ADDRESS: &str = "a host and a port, such as 127.0.0.1:8787";

/// Expected form of the `Origin` header.
pub(super) const ORIGINS: &str =
    "origins such as \"https://app.example\", without a path, or \"*\" for all";

/// A value as the user wrote it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'g> {
    /// From a file, with a type.
    Value(&'g Value),
    /// From the environment or the command line, as a string.
    Word(&'g str),
}

/// Description of the expected value, for an error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected(pub(super) String);

/// Expected form of a list of strings.
pub(super) const TEXTS: &str = "an array of strings, such as [\"a\", \"b\"]";

type Outcome<T> = Result<T, Expected>;

impl Given<'_> {
    pub(super) fn text(self) -> Outcome<String> {
        match self {
            Self::Value(Value { data: Data::Text(text), .. }) => Ok(text.clone()),
            Self::Word(word) => Ok(word.to_owned()),
            Self::Value(_) => expected("a string in quotes"),
        }
    }

    /// A string; `None` if it is empty.
    pub(super) fn some_text(self) -> Outcome<Option<String>> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// A list of strings; comma-separated in the environment.
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

    /// A non-negative integer in the range of `T`.
    pub(super) fn integer<T: TryFrom<u64>>(self) -> Outcome<T> {
        let number = self.digits().and_then(|digits| digits.parse::<u64>().ok());
        let fits = number.and_then(|number| T::try_from(number).ok());
        fits.map_or_else(|| expected("a non-negative integer"), Ok)
    }

    /// A positive integer in the range of `T`.
    pub(super) fn positive<T: TryFrom<u64>>(self) -> Outcome<T> {
        let is_none = self.digits().is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
        if is_none { expected("a positive integer") } else { self.integer() }
    }

    /// A duration in seconds, possibly with a fraction.
    pub(super) fn seconds(self) -> Outcome<Duration> {
        let seconds = self.digits().and_then(|digits| digits.parse::<f64>().ok());
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match duration {
            Some(duration) if duration <= MAX_DURATION => Ok(duration),
            Some(_) => expected(&format!("at most {} seconds", MAX_DURATION.as_secs())),
            None => expected("a number of seconds"),
        }
    }

    /// A listen address: host and port.
    pub(super) fn address(self) -> Outcome<Option<String>> {
        let address = self.some_text()?;
        let is_one = |address: &String| {
            let parts = address.rsplit_once(':');
            parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        if address.as_ref().is_none_or(is_one) { Ok(address) } else { expected(ADDRESS) }
    }

    /// Allowed origins.
    pub(super) fn origins(self) -> Outcome<Vec<String>> {
        let origins = self.texts()?;
        let is_one = |origin: &String| {
            let host = origin.split_once("://").map(|(_, host)| host);
            origin == "*" || host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*']))
        };
        if origins.iter().all(is_one) { Ok(origins) } else { expected(ORIGINS) }
    }

    /// One of the values that the command line accepts too.
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
