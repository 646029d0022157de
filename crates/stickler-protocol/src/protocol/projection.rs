//! Projects the annotated document to one revision, as plain JSON Schema 2020-12.
//!
//! A schema (a definition, a property, a branch of `anyOf`) may have `since` and `until` and is dropped outside of that
//! range. A schema may be a list of `versions`: the first one that applies is used, and the schema is dropped if none
//! does. An entry of `required` may be `{"name", "since", "until"}`, an entry of `enum`
//! `{"value", "since", "until"}`.
//!
//! The projection distinguishes schemas from names, so a property that is called `since` is kept.

use serde_json::{Map, Value};

use super::Revision;
use super::span::{self, Span};

/// Returns the schema of a revision; `None` if it does not exist there.
pub(super) fn project(annotated: &Value, revision: Revision) -> Option<Value> {
    let Value::Object(keywords) = annotated else {
        return Some(annotated.clone());
    };
    if !Span::of(keywords).contains(revision) {
        return None;
    }
    if let Some(Value::Array(versions)) = keywords.get("versions") {
        return versions.iter().find_map(|version| project(version, revision));
    }
    let mut plain = Map::new();
    for (keyword, value) in keywords {
        if span::WORDS.contains(&keyword.as_str()) {
            continue;
        }
        if let Some(value) = project_keyword(keyword, value, revision) {
            plain.insert(keyword.clone(), value);
        }
    }
    Some(Value::Object(plain))
}

/// Projects the value of a keyword; `None` if nothing is left.
fn project_keyword(keyword: &str, value: &Value, revision: Revision) -> Option<Value> {
    match (keyword, value) {
        ("properties", Value::Object(schemas)) => {
            let left: Map<String, Value> = schemas
                .iter()
                .filter_map(|(name, schema)| Some((name.clone(), project(schema, revision)?)))
                .collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        ("anyOf" | "allOf", Value::Array(schemas)) => {
            let left = schemas.iter().filter_map(|schema| project(schema, revision));
            Some(Value::Array(left.collect()))
        }
        ("items" | "additionalProperties", schema) => project(schema, revision),
        ("required", Value::Array(names)) => {
            let left = entries(names, "name", revision);
            (!left.is_empty()).then_some(Value::Array(left))
        }
        ("enum", Value::Array(values)) => Some(Value::Array(entries(values, "value", revision))),
        _ => Some(value.clone()),
    }
}

fn entries(list: &[Value], key: &str, revision: Revision) -> Vec<Value> {
    list.iter().filter_map(|entry| span::entry(entry, key, revision)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::project;
    use crate::protocol::Revision;

    const OLD: Revision = Revision::V2024_11_05;
    const MIDDLE: Revision = Revision::V2025_06_18;
    const NEW: Revision = Revision::V2026_07_28;

    fn in_each(annotated: &Value) -> [Option<Value>; 3] {
        [OLD, MIDDLE, NEW].map(|revision| project(annotated, revision))
    }

    #[test]
    fn schema_without_annotations_is_unchanged() {
        let schema = json!({ "type": "array", "items": { "enum": ["a"] }, "maxItems": 3 });
        assert_eq!(in_each(&schema), [const { None }; 3].map(|_: Option<()>| Some(schema.clone())));
    }

    #[test]
    fn definition_exists_from_since_to_until() {
        let schema = json!({ "since": "2025-03-26", "until": "2025-11-25", "type": "string" });
        assert_eq!(in_each(&schema), [None, Some(json!({ "type": "string" })), None]);
    }

    #[test]
    fn properties_depend_on_the_revision() {
        let schema = json!({ "properties": {
            "old": { "type": "string", "until": "2025-03-26" },
            "new": { "type": "string", "since": "2026-07-28" },
        } });
        let one = |name: &str| Some(json!({ "properties": { name: { "type": "string" } } }));
        assert_eq!(in_each(&schema), [one("old"), Some(json!({})), one("new")]);
    }

    #[test]
    fn entries_of_required_and_enum_depend_on_the_revision() {
        let schema = json!({ "required": ["a", { "name": "b", "since": "2025-06-18" }] });
        let left = in_each(&schema).map(|schema| schema.unwrap()["required"].clone());
        assert_eq!(left, [json!(["a"]), json!(["a", "b"]), json!(["a", "b"])]);
        let schema = json!({ "enum": ["a", { "value": "b", "until": "2025-06-18" }] });
        let left = in_each(&schema).map(|schema| schema.unwrap()["enum"].clone());
        assert_eq!(left, [json!(["a", "b"]), json!(["a", "b"]), json!(["a"])]);
        let schema = json!({ "required": [{ "name": "b", "since": "2026-07-28" }] });
        assert_eq!(in_each(&schema)[0], Some(json!({})));
    }

    #[test]
    fn branches_depend_on_the_revision() {
        let schema = json!({ "anyOf": [
            { "$ref": "#/$defs/A" },
            { "$ref": "#/$defs/B", "since": "2025-06-18", "until": "2025-06-18" },
        ] });
        let branches = in_each(&schema).map(|schema| schema.unwrap()["anyOf"].clone());
        let (a, b) = (json!({ "$ref": "#/$defs/A" }), json!({ "$ref": "#/$defs/B" }));
        assert_eq!(branches, [json!([a]), json!([a, b]), json!([a])]);
    }

    #[test]
    fn first_applicable_version_is_used() {
        let schema = json!({ "items": { "versions": [
            { "until": "2024-11-05", "type": "string" },
            { "since": "2026-07-28", "type": "integer" },
        ] } });
        let items = |name: &str| Some(json!({ "items": { "type": name } }));
        assert_eq!(in_each(&schema), [items("string"), Some(json!({})), items("integer")]);
    }

    #[test]
    fn property_named_like_an_annotation_is_kept() {
        let schema = json!({ "type": "object", "properties": {
            "since": { "type": "string" },
            "until": { "const": "2024-11-05" },
            "versions": { "type": "array" },
        }, "required": ["since"] });
        assert_eq!(project(&schema, NEW), Some(schema));
    }
}
