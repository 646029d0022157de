//! The vocabulary of tool arguments: words that APIs use for the same thing, and words that are
//! opposites.
//!
//! Contract: an entry pairs words that unrelated APIs use for the same argument. Words are in the
//! canonical form of [`Words`](super::words::Words): singular, not abbreviated. A word can be in several
//! groups; only words that share a group are synonyms. Opposites are never synonyms, even if a group
//! contains both.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words for the same thing.
const SYNONYMS: &[&[&str]] = &[
    // Quantities and pages.
    &[
        "limit", "maximum", "count", "number", "top", "size", "k", "n", "quantity", "amount",
        "total",
    ],
    &["result", "row", "item", "record", "entry", "hit", "match"],
    &["offset", "skip", "start", "from", "index"],
    &["page", "p"],
    &["depth", "level"],
    &["minimum", "least"],
    // Files and locations.
    &["path", "file", "location"],
    &["directory", "folder", "path", "dir", "root"],
    &["workbook", "file", "path", "document", "spreadsheet"],
    &["url", "uri", "link", "href", "address", "endpoint", "website", "webpage"],
    &["sheet", "worksheet", "tab"],
    &["repository", "project"],
    &["cell", "position", "anchor", "location", "coordinate"],
    &["at", "position"],
    &["range", "area", "region", "selection", "interval"],
    &["position", "index", "order", "location", "place"],
    &["location", "place", "city", "address"],
    &["host", "hostname", "server", "domain"],
    // Searching.
    &["query", "q", "search", "find", "text", "term", "keyword", "question", "pattern", "phrase"],
    &["pattern", "regex", "regexp", "expression", "glob", "match"],
    &["filter", "condition", "where", "criterion", "predicate"],
    &["query", "sql", "statement", "command", "cypher", "expression"],
    &["sort", "order", "orderby", "sortby"],
    &["direction", "dir", "order", "sort"],
    &["group", "breakdown", "aggregate", "bucket"],
    // Time.
    &["from", "start", "since", "begin", "after"],
    &["to", "end", "until", "before", "till", "stop", "finish"],
    &["date", "time", "day", "timestamp", "datetime", "when"],
    &["timeout", "wait", "duration", "delay"],
    &["duration", "length", "period"],
    // Identity.
    &["id", "identifier", "key", "uuid", "uid", "guid", "reference", "handle", "number", "code"],
    &["name", "title", "label", "heading", "subject", "topic", "caption", "headline"],
    &["name", "alias", "slug", "username", "login"],
    &["user", "account", "member", "person", "author", "owner", "assignee"],
    &["recipient", "to", "receiver", "email"],
    &["email", "mail"],
    &["sender", "from", "author"],
    &["team", "organization", "group", "company"],
    &["symbol", "ticker"],
    // Content.
    &["content", "text", "body", "message", "data", "payload", "value", "html", "markdown"],
    &["description", "summary", "detail", "note", "comment", "about", "text", "body"],
    &["message", "comment", "note", "reason", "text", "reply"],
    &["prompt", "instruction", "question", "request", "text", "description"],
    &["script", "code", "function", "expression", "source"],
    &["data", "row", "value", "record", "item", "entry"],
    &["replacement", "replace", "new", "substitute"],
    &["image", "picture", "photo", "icon"],
    &["attachment", "file", "document"],
    &["tag", "label", "category", "keyword"],
    &["color", "colour"],
    // Kinds and settings.
    &["type", "kind", "category", "class", "mode", "variant", "format"],
    &["format", "extension", "encoding", "accept"],
    &["mode", "method", "strategy", "action", "operation"],
    &["action", "operation", "command", "event"],
    &["status", "state"],
    &["option", "setting", "configuration", "parameter", "preference"],
    &["property", "field", "attribute", "column", "key"],
    &["field", "column"],
    &["value", "option", "choice"],
    &["parameter", "argument", "input", "variable"],
    &["model", "engine"],
    &["language", "locale"],
    &["unit", "measurement"],
    &["axis", "dimension"],
    &["scope", "path", "folder", "directory"],
    &["rule", "policy", "condition"],
    &["permission", "role", "access", "right"],
    &["version", "revision", "release"],
    &["currency", "money"],
    &["price", "cost", "amount"],
    &["reference", "target", "element", "selector", "node", "uid"],
    // Directions of data.
    &["source", "from", "origin", "input"],
    &["target", "destination", "to", "output"],
    &["output", "export", "save", "result"],
    &["input", "source", "original"],
    &["parent", "container"],
    &["entity", "object", "element", "resource", "item"],
    &["entity", "member"],
    // Switches.
    &["overwrite", "force", "replace"],
    &["include", "with", "show", "return", "add"],
    &["exclude", "without", "ignore", "skip", "omit", "hide"],
    &["enable", "enabled", "active", "on"],
    &["disable", "disabled", "inactive", "off"],
    &["recursive", "recurse", "nested", "deep"],
    &["sensitive", "match", "exact"],
    &["dry", "preview", "simulate", "test"],
    &["delete", "remove", "trash", "erase", "clear"],
    &["create", "add", "insert", "new"],
    &["update", "edit", "modify", "change", "set"],
    &["get", "read", "fetch", "retrieve", "show", "view"],
    &["list", "all", "enumerate"],
];

/// Words whose exchange reverses the meaning.
const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &[
            "from", "start", "since", "begin", "after", "first", "source", "input", "origin",
            "sender",
        ],
        &[
            "to",
            "end",
            "until",
            "before",
            "last",
            "target",
            "destination",
            "output",
            "recipient",
            "stop",
            "till",
            "finish",
        ],
    ),
    (&["minimum", "least", "lower"], &["maximum", "limit", "upper", "top"]),
    (
        &["include", "with", "show", "allow", "only"],
        &["exclude", "without", "ignore", "omit", "hide", "deny", "skip"],
    ),
    (
        &["old", "previous", "original", "before", "find", "search"],
        &["new", "next", "after", "replace", "replacement"],
    ),
    (&["enable", "enabled", "active"], &["disable", "disabled", "inactive"]),
    (&["width", "x", "horizontal", "column"], &["height", "y", "vertical", "row"]),
    (&["latitude"], &["longitude"]),
    (&["left"], &["right"]),
    (&["top"], &["bottom"]),
    (&["add", "create", "insert"], &["delete", "remove"]),
    (&["parent"], &["child"]),
    (&["public"], &["private"]),
    (&["read"], &["write"]),
    (&["ascending"], &["descending"]),
    (&["lock"], &["unlock"]),
    (&["merge"], &["unmerge"]),
    (&["before"], &["after"]),
];

/// Words that qualify another word: two names that share nothing else are about different things.
const QUALIFIERS: &[&str] = &[
    "maximum", "minimum", "number", "count", "total", "include", "exclude", "is", "has", "new",
    "default", "enable", "show", "use", "with", "first", "last", "target", "source", "parent",
];

/// Words for what identifies a thing.
const IDENTITY: &[&str] = &["id", "name", "title", "key", "identifier", "number", "slug", "uuid"];

/// Words that are common in names and carry little meaning of their own.
const GENERIC: &[&str] = &[
    "id",
    "name",
    "value",
    "data",
    "type",
    "the",
    "of",
    "a",
    "an",
    "is",
    "object",
    "item",
    "list",
    "input",
    "string",
    "text",
    "for",
    "in",
    "by",
    "my",
    "current",
    "this",
    "key",
    "set",
    "all",
    "should",
    "do",
    "use",
    "information",
    "array",
    "json",
    "param",
    "field",
    "tool",
    "string",
];

/// Units of measurement: a value must not be moved to a field with another unit.
const UNITS: &[&str] = &[
    "millisecond",
    "second",
    "minute",
    "hour",
    "cm",
    "mm",
    "px",
    "pixel",
    "pt",
    "inch",
    "meter",
    "metre",
    "km",
    "mile",
    "kb",
    "mb",
    "gb",
    "byte",
    "percent",
    "kg",
    "character",
    "token",
    "line",
    "word",
];

/// Words that occur in compounds and are in no group of synonyms.
const OTHER_WORDS: &[&str] = &[
    "branch", "card", "channel", "chart", "base", "board", "box", "cluster", "custom", "height",
    "width", "first", "last", "max", "min", "line", "page", "pivot", "plan", "set", "step",
    "stage", "table", "task", "view", "word", "work", "zone", "font", "phone", "order", "by",
    "screen", "shot", "thread", "calendar", "event", "post", "code", "base", "index", "doc",
    "space", "org", "app",
];

/// What the vocabulary knows about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each one is a table of its own")]
pub(crate) struct Meaning {
    /// The groups of synonyms that contain the word, as a bit set.
    groups: u128,
    /// The pairs of opposites that contain the word on their first side, as a bit set.
    first_sides: u32,
    /// The same for the second side.
    second_sides: u32,
    /// Whether the word is common in names and says little about them.
    pub(crate) is_generic: bool,
    /// Whether the word qualifies another one.
    pub(crate) is_qualifier: bool,
    /// Whether the word is a unit of measurement.
    pub(crate) is_unit: bool,
    /// Whether the word says what identifies a thing.
    pub(crate) is_identity: bool,
}

impl Meaning {
    /// Returns what is known about a word in canonical form; nothing about an unknown word.
    pub(crate) fn of(word: &str) -> Self {
        VOCABULARY.get(word).copied().unwrap_or_default()
    }

    /// Returns whether both words are used for the same thing.
    pub(crate) fn is_synonym_of(self, other: Self) -> bool {
        self.groups & other.groups != 0 && !self.is_opposite_of(other)
    }

    /// Returns whether exchanging the words reverses the meaning.
    pub(crate) fn is_opposite_of(self, other: Self) -> bool {
        let shares_a_side = self.first_sides & other.first_sides != 0
            || self.second_sides & other.second_sides != 0;
        let faces = self.first_sides & other.second_sides | self.second_sides & other.first_sides;
        faces != 0 && !shares_a_side
    }
}

/// Returns whether a word is in the vocabulary.
pub(crate) fn is_known(word: &str) -> bool {
    VOCABULARY.contains_key(word)
}

static VOCABULARY: LazyLock<HashMap<&'static str, Meaning>> = LazyLock::new(|| {
    let mut all: HashMap<&'static str, Meaning> = HashMap::new();
    for (index, group) in SYNONYMS.iter().enumerate() {
        for word in *group {
            all.entry(word).or_default().groups |= 1_u128.checked_shl(bits(index)).unwrap_or(0);
        }
    }
    for (index, (first, second)) in OPPOSITES.iter().enumerate() {
        let bit = 1_u32.checked_shl(bits(index)).unwrap_or(0);
        first.iter().for_each(|word| all.entry(word).or_default().first_sides |= bit);
        second.iter().for_each(|word| all.entry(word).or_default().second_sides |= bit);
    }
    for word in GENERIC {
        all.entry(word).or_default().is_generic = true;
    }
    for word in UNITS {
        all.entry(word).or_default().is_unit = true;
    }
    for word in QUALIFIERS {
        all.entry(word).or_default().is_qualifier = true;
    }
    for word in IDENTITY {
        all.entry(word).or_default().is_identity = true;
    }
    for word in OTHER_WORDS {
        all.entry(word).or_default();
    }
    all
});

fn bits(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Meaning, OPPOSITES, SYNONYMS};

    fn are_synonyms(a: &str, b: &str) -> bool {
        Meaning::of(a).is_synonym_of(Meaning::of(b))
    }

    fn are_opposites(a: &str, b: &str) -> bool {
        Meaning::of(a).is_opposite_of(Meaning::of(b))
    }

    #[test]
    fn every_table_fits_into_its_bit_set() {
        assert!(SYNONYMS.len() <= 128 && OPPOSITES.len() <= 32);
    }

    #[test]
    fn words_for_the_same_thing_are_synonyms() {
        for (a, b) in [("path", "file"), ("limit", "k"), ("query", "search"), ("from", "start")] {
            assert!(are_synonyms(a, b) && are_synonyms(b, a), "{a} {b}");
        }
        assert!(!are_synonyms("path", "color"));
    }

    #[test]
    fn opposites_are_never_synonyms() {
        for (a, b) in [
            ("from", "to"),
            ("source", "target"),
            ("minimum", "maximum"),
            ("start", "end"),
            ("include", "exclude"),
            ("old", "new"),
        ] {
            assert!(are_opposites(a, b) && are_opposites(b, a) && !are_synonyms(a, b), "{a} {b}");
        }
    }
}
