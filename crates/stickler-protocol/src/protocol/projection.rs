//! One revision out of the annotated document, as plain JSON Schema 2020-12.
//!
//! The annotations are four. A schema may say `since` and `until`, and is dropped where it does not
//! hold (a definition, a property, a branch of `anyOf`). It may be a list of `versions`, of which
//! the first that holds stands for it; where none holds it is dropped too. An entry of `required`
//! may be `{"name", "since", "until"}`, one of `enum` `{"value", "since", "until"}`.
//!
//! The walk knows what is a schema and what is a name, so a property that is itself called `since`
//! is only a property.

use serde_json::{Map, Value};

use super::Revision;
use super::span::{self, Span};

/// The schema as it is in that revision; `None` where it is not there.
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

/// The value of one keyword; `None` where nothing is left of it.
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
    fn what_has_no_annotation_is_as_it_was() {
        let schema = json!({ "type": "array", "items": { "enum": ["a"] }, "maxItems": 3 });
        assert_eq!(in_each(&schema), [const { None }; 3].map(|_: Option<()>| Some(schema.clone())));
    }

    #[test]
    fn a_definition_is_there_from_since_to_until() {
        let schema = json!({ "since": "2025-03-26", "until": "2025-11-25", "type": "string" });
        assert_eq!(in_each(&schema), [None, Some(json!({ "type": "string" })), None]);
    }

    #[test]
    fn properties_come_and_go() {
        let schema = json!({ "properties": {
            "old": { "type": "string", "until": "2025-03-26" },
            "new": { "type": "string", "since": "2026-07-28" },
        } });
        let one = |name: &str| Some(json!({ "properties": { name: { "type": "string" } } }));
        assert_eq!(in_each(&schema), [one("old"), Some(json!({})), one("new")]);
    }

    #[test]
    fn entries_of_required_and_enum_come_and_go() {
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
    fn branches_come_and_go() {
        let schema = json!({ "anyOf": [
            { "$ref": "#/$defs/A" },
            { "$ref": "#/$defs/B", "since": "2025-06-18", "until": "2025-06-18" },
        ] });
        let branches = in_each(&schema).map(|schema| schema.unwrap()["anyOf"].clone());
        let (a, b) = (json!({ "$ref": "#/$defs/A" }), json!({ "$ref": "#/$defs/B" }));
        assert_eq!(branches, [json!([a]), json!([a, b]), json!([a])]);
    }

    #[test]
    fn the_version_that_holds_stands_for_the_schema() {
        let schema = json!({ "items": { "versions": [
            { "until": "2024-11-05", "type": "string" },
            { "since": "2026-07-28", "type": "integer" },
        ] } });
        let items = |name: &str| Some(json!({ "items": { "type": name } }));
        assert_eq!(in_each(&schema), [items("string"), Some(json!({})), items("integer")]);
    }

    #[test]
    fn a_property_may_be_called_like_an_annotation() {
        let schema = json!({ "type": "object", "properties": {
            "since": { "type": "string" },
            "until": { "const": "2024-11-05" },
            "versions": { "type": "array" },
        }, "required": ["since"] });
        assert_eq!(project(&schema, NEW), Some(schema));
    }
}
