//! The annotated document: what all revisions of MCP say, in one place.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{Revision, projection};

/// Facts only: names, types, what is required, since when and until when.
const TEXT: &str = include_str!("definitions.json");

static PARSED: LazyLock<Value> = LazyLock::new(|| {
    // A test shows that it parses.
    serde_json::from_str(TEXT).unwrap_or_default()
});

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The table of methods, by name.
pub(super) fn methods() -> &'static Map<String, Value> {
    section("methods")
}

/// The definitions that a revision has, by name, as plain JSON Schema.
pub(super) fn definitions(revision: Revision) -> Map<String, Value> {
    let themes = section("definitions").values().filter_map(Value::as_object);
    themes
        .flatten()
        .filter_map(|(name, schema)| Some((name.clone(), projection::project(schema, revision)?)))
        .collect()
}

fn section(name: &str) -> &'static Map<String, Value> {
    PARSED.get(name).and_then(Value::as_object).unwrap_or(&EMPTY)
}
