//! Sample values that look like those of a real call, from the name and the description of a field.
//!
//! A model copies the form of an example: `"example"` for a time teaches it nothing, `"09:30"` does. The samples
//! are candidates; the caller drops those that the schema does not accept. Sources, best first: an example in
//! the description (`e.g. "USD"`), a date template in it (`HH:MM`), the words of the name, the words of the
//! description.
//!
//! Contract: only the beginning of a description is read. Addresses are from the ranges reserved for documentation.

use serde_json::{Value, json};

use super::date_template;
use crate::suggest::words::Words;

/// Maximum number of bytes of a description that are read.
const MAX_DESCRIPTION_BYTES: usize = 600;

/// Maximum number of characters of an example that is taken from a description.
const MAX_QUOTED_CHARS: usize = 60;

/// Phrases that announce an example.
const MARKERS: [&str; 6] = ["e.g.", "e.g", "for example", "example:", "examples:", "such as"];

/// The name and the description of a field.
#[derive(Clone, Copy, Default)]
pub(super) struct Hints<'h> {
    pub(super) name: &'h str,
    pub(super) description: &'h str,
}

/// Samples by a word of the name; words at the end of a name are tried first.
const BY_NAME: &[(&[&str], &[&str])] = &[
    (&["email", "mail"], &["user@example.com"]),
    (&["url", "uri", "link", "href", "website", "webhook"], &["https://example.com"]),
    (&["glob"], &["src/**/*.ts"]),
    (&["regex", "regexp"], &["^example$"]),
    (&["cron"], &["0 9 * * 1"]),
    (&["timezone"], &["Europe/Berlin"]),
    (&["timestamp", "datetime"], &["2024-01-15T09:30:00Z"]),
    (&["date", "day", "birthday", "deadline"], &["2024-01-15"]),
    (&["time"], &["09:30"]),
    (&["month"], &["2024-01"]),
    (&["year"], &["2024"]),
    (&["directory", "folder", "dir", "cwd", "workdir"], &["/home/user/project"]),
    (&["file", "path", "filepath", "pathname"], &["/home/user/notes.txt", "notes.txt"]),
    (&["filename", "basename"], &["notes.txt"]),
    (&["locale"], &["en-US"]),
    (&["language"], &["en", "en-US"]),
    (&["country"], &["US", "USA"]),
    (&["currency"], &["USD"]),
    (&["color", "colour"], &["#336699"]),
    (&["phone"], &["+15550100"]),
    (&["ip"], &["192.0.2.1"]),
    (&["host", "hostname", "domain"], &["example.com"]),
    (&["uuid", "guid"], &["123e4567-e89b-12d3-a456-426614174000"]),
    (&["commit", "sha", "hash"], &["9fceb02", "9fceb02d0ae598e95dc970b74767f19372d61af8"]),
    (&["branch"], &["main"]),
    (&["repository"], &["example-repo", "example-org/example-repo"]),
    (&["owner", "organization"], &["example-org"]),
    (&["version"], &["1.2.0"]),
    (&["sql"], &["SELECT 1"]),
    (&["command"], &["ls -l"]),
    (&["query", "q", "search", "keyword"], &["quarterly report"]),
    (&["title", "subject", "headline"], &["Weekly report"]),
    (&["city", "location", "place", "address"], &["Berlin"]),
    (&["username", "login"], &["jane.doe"]),
    (&["message", "text", "content", "body", "comment", "note", "prompt"], &["Hello, world"]),
    (&["id", "identifier"], &["123", "abc123"]),
];

/// Samples by a word of the description, for names that say nothing.
const BY_DESCRIPTION: &[(&[&str], &[&str])] = &[
    (&["email"], &["user@example.com"]),
    (&["url", "uri"], &["https://example.com"]),
    (&["uuid"], &["123e4567-e89b-12d3-a456-426614174000"]),
    (&["sql"], &["SELECT 1"]),
    (&["directory", "folder"], &["/home/user/project"]),
    (&["path", "filename"], &["/home/user/notes.txt", "notes.txt"]),
    (&["timezone"], &["Europe/Berlin"]),
    (&["datetime", "timestamp"], &["2024-01-15T09:30:00Z"]),
    (&["date"], &["2024-01-15"]),
];

/// Samples of numbers by a word of the name.
const NUMBERS: &[(&str, f64)] = &[
    ("latitude", 52.52),
    ("longitude", 13.405),
    ("port", 8080.0),
    ("year", 2024.0),
    ("timeout", 30.0),
    ("limit", 10.0),
    ("temperature", 0.7),
];

/// Texts that many patterns describe, tried where neither name nor description give a hint.
const COMMON_FORMS: &[&str] = &[
    "09:30",
    "09:30:00",
    "2024-01-15",
    "2024-01-15T09:30:00Z",
    "2024-01",
    "#336699",
    "1.2.0",
    "en-US",
    "en",
    "USD",
    "US",
    "+15550100",
    "https://example.com",
    "user@example.com",
    "ABC-123",
    "/home/user/notes.txt",
    "123",
];

impl Hints<'_> {
    /// Returns the hints for the field at a path of an example; elements have the name of their array.
    pub(super) fn at<'h>(path: &'h str, description: Option<&'h Value>) -> Hints<'h> {
        let is_name = |segment: &&str| !segment.bytes().all(|byte| byte.is_ascii_digit());
        let name = path.rsplit('/').find(is_name).unwrap_or_default();
        let description = description.and_then(Value::as_str).unwrap_or_default();
        let end = (0..=MAX_DESCRIPTION_BYTES.min(description.len()))
            .rev()
            .find(|end| description.is_char_boundary(*end));
        Hints { name, description: description.get(..end.unwrap_or(0)).unwrap_or_default() }
    }

    /// Returns sample texts, best first.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        texts.extend(given_example(self.description));
        texts.extend(date_template::sample(self.description));
        let name = Words::undivided(self.name);
        texts.extend(self.iso_time(&name));
        let mut words: Vec<&str> = name.iter().map(|word| word.text.as_str()).collect();
        words.reverse();
        for word in words {
            // A path that the description calls a folder is one.
            if word == "path" && (self.describes("directory") || self.describes("folder")) {
                texts.push("/home/user/project".to_owned());
            }
            let samples = BY_NAME.iter().filter(|(words, _)| words.contains(&word));
            texts.extend(samples.flat_map(|(_, samples)| *samples).map(|text| (*text).to_owned()));
        }
        if texts.is_empty() {
            let described = BY_DESCRIPTION
                .iter()
                .filter(|(words, _)| words.iter().any(|word| self.describes(word)));
            texts
                .extend(described.flat_map(|(_, samples)| *samples).map(|text| (*text).to_owned()));
        }
        texts
    }

    /// Returns whether the description contains a word.
    fn describes(&self, word: &str) -> bool {
        let mut words = self.description.split(|c: char| !c.is_alphanumeric());
        words.any(|own| own.eq_ignore_ascii_case(word))
    }

    /// Returns a time if the description names a standard for times.
    fn iso_time(&self, name: &Words) -> Option<String> {
        let names_standard = ["ISO 8601", "ISO8601", "ISO-8601", "RFC 3339", "RFC3339"]
            .iter()
            .any(|standard| self.description.contains(standard));
        if !names_standard {
            return None;
        }
        let has = |word: &str| name.contains(word) || self.describes(word);
        let sample = if has("duration") {
            "PT1H"
        } else if has("date") && !has("time") && !has("datetime") {
            "2024-01-15"
        } else {
            "2024-01-15T09:30:00Z"
        };
        Some(sample.to_owned())
    }

    /// Returns sample numbers, best first.
    pub(super) fn numbers(&self) -> Vec<Value> {
        let given = given_example(self.description).and_then(|text| text.parse::<f64>().ok());
        let name = Words::undivided(self.name);
        let by_name = NUMBERS.iter().filter(|(word, _)| name.contains(word));
        given.into_iter().chain(by_name.map(|(_, number)| *number)).filter_map(number).collect()
    }
}

/// Returns the texts of common forms.
pub(super) fn common_forms() -> impl Iterator<Item = String> {
    COMMON_FORMS.iter().map(|text| (*text).to_owned())
}

/// Returns a number as JSON, as an integer if it is one.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn number(number: f64) -> Option<Value> {
    match number {
        whole if whole.fract() == 0.0 && whole.abs() < 1e15 => Some(json!(whole as i64)),
        finite if finite.is_finite() => Some(json!(finite)),
        _ => None,
    }
}

/// Returns the first example that a description gives: quoted, or a token that is not an ordinary word.
fn given_example(description: &str) -> Option<String> {
    let lower = description.to_ascii_lowercase();
    let marked = MARKERS.iter().filter_map(|marker| Some((lower.find(marker)?, marker.len())));
    let (start, length) = marked.min_by_key(|(start, length)| (*start, usize::MAX - length))?;
    let rest = description.get(start + length..)?;
    let rest = rest.trim_start_matches([' ', ',', ':', '(']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let text = rest.get(1..)?.split(quote).next()?;
        return is_usable(text).then(|| text.to_owned());
    }
    let token = rest.split([' ', ',', ';', ')', '\n', '\t']).next()?.trim_end_matches(['.', ':']);
    let is_special = |c: char| c.is_ascii_digit() || matches!(c, '/' | '_' | '@' | '#');
    let is_code = token.len() > 1 && token.chars().all(|c| c.is_ascii_uppercase());
    (is_usable(token) && (token.contains(is_special) || is_code)).then(|| token.to_owned())
}

fn is_usable(text: &str) -> bool {
    let length = text.chars().count();
    (1..=MAX_QUOTED_CHARS).contains(&length) && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::Hints;

    fn first(name: &str, description: &str) -> Option<String> {
        Hints { name, description }.texts().into_iter().next()
    }

    #[test]
    fn example_in_the_description_comes_first() {
        for (description, expected) in [
            ("Currency, e.g. \"EUR\" or \"USD\"", "EUR"),
            ("The room (e.g., 'B-204')", "B-204"),
            ("Cell to read, for example B2.", "B2"),
            ("Currency code, e.g. EUR", "EUR"),
            ("Branch such as `feature/login`", "feature/login"),
        ] {
            assert_eq!(first("value", description).as_deref(), Some(expected), "{description}");
        }
        assert_eq!(first("value", "For example the name of the file").as_deref(), None);
    }

    #[test]
    fn date_template_in_the_description_is_filled_in() {
        for (description, expected) in [
            ("Start in HH:MM format", "09:30"),
            ("Day (YYYY-MM-DD)", "2024-01-15"),
            ("Date as MM/DD/YYYY", "01/15/2024"),
            ("Start in ISO 8601 format", "2024-01-15T09:30:00Z"),
        ] {
            assert_eq!(first("start", description).as_deref(), Some(expected), "{description}");
        }
    }

    #[test]
    fn name_gives_the_kind_of_value() {
        for (name, expected) in [
            ("file_path", "/home/user/notes.txt"),
            ("outputDir", "/home/user/project"),
            ("recipient_email", "user@example.com"),
            ("callbackUrl", "https://example.com"),
            ("start_date", "2024-01-15"),
            ("start_time", "09:30"),
            ("tz", "Europe/Berlin"),
        ] {
            assert_eq!(first(name, "").as_deref(), Some(expected), "{name}");
        }
        assert_eq!(first("path", "Folder to list").as_deref(), Some("/home/user/project"));
        assert_eq!(first("target", "Path of the file").as_deref(), Some("/home/user/notes.txt"));
        assert_eq!(first("entity", ""), None);
    }

    #[test]
    fn numbers_come_from_the_description_and_the_name() {
        let numbers = |name, description| Hints { name, description }.numbers();
        assert_eq!(numbers("latitude", ""), [52.52]);
        assert_eq!(numbers("port", "e.g. 5432"), [5432, 8080]);
        assert!(numbers("entity", "e.g. 1e999").is_empty());
    }

    #[test]
    fn elements_have_the_name_of_their_array() {
        assert_eq!(Hints::at("/mail/recipients/0", None).name, "recipients");
        assert_eq!(Hints::at("", None).name, "");
    }
}
