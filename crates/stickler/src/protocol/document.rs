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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::{TEXT, methods, section};
    use crate::protocol::Revision;

    #[test]
    fn the_document_can_be_read_and_names_each_definition_once() {
        let document: Value = serde_json::from_str(TEXT).unwrap();
        assert!(document.is_object());
        assert!(methods().len() > 30);
        let mut seen = HashSet::new();
        for (theme, definitions) in section("definitions") {
            for name in definitions.as_object().unwrap().keys() {
                assert!(seen.insert(name), "{theme}: {name}");
            }
        }
        assert!(seen.len() > 190);
    }

    /// Where a revision is misspelt, the annotation would be passed over.
    #[test]
    fn every_since_and_until_names_a_revision() {
        fn walk(value: &Value, count: &mut usize) {
            match value {
                Value::Object(members) => {
                    for word in ["since", "until"] {
                        if let Some(Value::String(name)) = members.get(word) {
                            assert!(Revision::parse(name).is_some(), "{name}");
                            *count += 1;
                        }
                    }
                    members.values().for_each(|inner| walk(inner, count));
                }
                Value::Array(items) => items.iter().for_each(|inner| walk(inner, count)),
                _ => {}
            }
        }
        let mut count = 0;
        walk(&serde_json::from_str(TEXT).unwrap(), &mut count);
        assert!(count > 500, "{count}");
    }

    #[test]
    fn the_document_has_no_prose() {
        fn walk(schema: &Value) {
            let Value::Object(keywords) = schema else {
                return;
            };
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("description" | "title" | "$comment", Value::String(text)) => {
                        panic!("{text}")
                    }
                    ("properties", Value::Object(schemas)) => schemas.values().for_each(walk),
                    ("anyOf" | "allOf" | "versions", Value::Array(schemas)) => {
                        schemas.iter().for_each(walk);
                    }
                    ("items" | "additionalProperties", schema) => walk(schema),
                    _ => {}
                }
            }
        }
        let themes = section("definitions").values().filter_map(Value::as_object);
        themes.flatten().for_each(|(_, schema)| walk(schema));
    }
}
