//! The vocabulary of tool arguments: words that APIs use for the same thing, and words that are
//! opposites.
//!
//! Contract: an entry pairs words that unrelated APIs use for the same argument. Words are in the
//! canonical form of [`Words`](super::words::Words): singular, not abbreviated. A word can be in several
//! groups; only words that share a group are synonyms. Opposites are never synonyms, even if a group
//! contains both.

/// Words for the same thing.
const SYNONYMS: &[&[&str]] = &[
    // Quantities and pages.
    &[
        "limit", "maximum", "count", "number", "top", "size", "k", "n", "quantity", "amount",
        "total",
    ],
    &["result", "row", "item", "record", "entry", "hit", "match"],
    &["offset", "skip", "start", "from", "index"],
    &["page", "p", "cursor", "offset"],
    &["depth", "level"],
    &["minimum", "least"],
    // Files and locations.
    &["path", "file", "location"],
    &["directory", "folder", "path", "dir", "root"],
    &["workbook", "file", "path", "document", "spreadsheet"],
    &["url", "uri", "link", "href", "address", "endpoint", "website", "webpage"],
    &["sheet", "worksheet", "tab"],
    &["repository", "project"],
    &["cell", "at", "position", "anchor", "location", "coordinate"],
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
    &["scope", "path", "folder", "context"],
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
    &["entity", "object", "member", "element", "resource", "item"],
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

/// Words that occur in compounds and are in no group of synonyms.
const OTHER_WORDS: &[&str] = &[
    "branch", "card", "channel", "chart", "base", "board", "box", "cluster", "custom", "height",
    "width", "first", "last", "max", "min", "line", "page", "pivot", "plan", "set", "step",
    "stage", "table", "task", "view", "word", "work", "zone", "font", "phone", "order", "by",
    "screen", "shot", "thread", "calendar", "event", "post", "code", "base", "index", "doc",
    "space", "org", "app",
];

/// Returns whether two words in canonical form are used for the same thing.
pub(crate) fn are_synonyms(a: &str, b: &str) -> bool {
    SYNONYMS.iter().any(|group| group.contains(&a) && group.contains(&b)) && !are_opposites(a, b)
}

/// Returns whether exchanging the words reverses the meaning.
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    a != b
        && OPPOSITES.iter().any(|(some, others)| {
            some.contains(&a) && others.contains(&b) || some.contains(&b) && others.contains(&a)
        })
}

/// Returns whether a word is common in names and says little about them.
pub(crate) fn is_generic(word: &str) -> bool {
    GENERIC.contains(&word)
}

/// Returns whether a word is in the vocabulary.
pub(crate) fn is_known(word: &str) -> bool {
    SYNONYMS.iter().any(|group| group.contains(&word))
        || GENERIC.contains(&word)
        || OTHER_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::{are_opposites, are_synonyms};

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
