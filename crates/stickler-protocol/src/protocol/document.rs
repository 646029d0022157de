//! The annotated document with the definitions of all MCP revisions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Revision, projection};

/// Names, types and requirements, each with the revisions it applies to.
const TEXT: &str = include_str!("definitions.json");

/// The document with unparsed definitions, because most programs use only a few of them.
#[derive(Default, Deserialize)]
struct Document {
    methods: Map<String, Value>,
    #[serde(borrow)]
    definitions: BTreeMap<&'static str, Theme>,
}

type Theme = BTreeMap<&'static str, &'static RawValue>;

static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    // A test asserts that the document can be parsed.
    serde_json::from_str(TEXT).unwrap_or_default()
});

/// Returns the methods by name.
pub(super) fn methods() -> &'static Map<String, Value> {
    &DOCUMENT.methods
}

/// Returns the names of the definitions of all revisions.
pub(super) fn definition_names() -> impl Iterator<Item = &'static str> {
    DOCUMENT.definitions.values().flat_map(|theme| theme.keys().copied())
}

/// Returns a definition as plain JSON Schema; `None` if the revision does not define it.
pub(super) fn definition(name: &str, revision: Revision) -> Option<Value> {
    let text = DOCUMENT.definitions.values().find_map(|theme| theme.get(name))?;
    projection::project(&serde_json::from_str(text.get()).ok()?, revision)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::{DOCUMENT, TEXT, definition_names, methods};
    use crate::protocol::Revision;

    #[test]
    fn document_parses_and_names_each_definition_once() {
        assert!(methods().len() > 30);
        let mut seen = HashSet::new();
        for name in definition_names() {
            assert!(seen.insert(name), "{name}");
        }
        assert!(seen.len() > 190);
    }

    /// A misspelt revision would be ignored.
    #[test]
    fn every_since_and_until_is_a_known_revision() {
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
    fn document_contains_no_descriptions() {
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
        for definition in DOCUMENT.definitions.values().flatten() {
            walk(&serde_json::from_str(definition.1.get()).unwrap());
        }
    }
}
