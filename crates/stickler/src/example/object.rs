//! Builds objects with the required properties, and with optional ones only if needed.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use super::builder::{Builder, Position};
use super::candidates::CandidateSink;
use super::flat_schema::FlatSchema;
use super::realistic::Hints;
use super::string::{DEFAULT_TEXT, count, strings};

/// Maximum depth at which optional properties are added. Deeper ones would make the example
/// unreadable.
const MAX_OPTIONAL_DEPTH: usize = 3;

/// Maximum value of `minProperties` for which an object is built.
const MAX_MEMBERS: usize = 256;

/// Maximum length of a chain of dependencies. Each round adds at least one property.
const MAX_DEPENDENCY_ROUNDS: usize = 8;

/// Offers objects for `flat`: the smallest one, a complete one, then variants of a member.
pub(super) fn offer(
    builder: &Builder<'_>,
    flat: &FlatSchema,
    position: Position<'_>,
    sink: &mut CandidateSink<'_>,
) -> ControlFlow<()> {
    let fills = if builder.plan.all_optional { [true, false] } else { [false, true] };
    for variant in 0..=position.variety {
        for fill in fills {
            let draft = Draft { builder, position, variant, members: Map::new() };
            let Some(members) = draft.complete(flat, fill) else {
                // A required member does not have a value, and other drafts would not change that.
                return ControlFlow::Continue(());
            };
            sink(Value::Object(members))?;
        }
    }
    ControlFlow::Continue(())
}

struct Draft<'b> {
    builder: &'b Builder<'b>,
    position: Position<'b>,
    /// Number of candidates that the first member skips, so that objects differ.
    variant: usize,
    members: Map<String, Value>,
}

impl Draft<'_> {
    fn complete(mut self, flat: &FlatSchema, fill: bool) -> Option<Map<String, Value>> {
        let flat = with_dependencies(flat, self.builder)?;
        let keywords = &flat.keywords;
        for name in names(keywords.get("required")) {
            self.add(keywords, name)?;
        }
        let max = count(keywords, "maxProperties").unwrap_or(usize::MAX);
        let min = count(keywords, "minProperties").unwrap_or(0);
        if min > MAX_MEMBERS {
            return None;
        }
        let target = if fill && self.position.depth < MAX_OPTIONAL_DEPTH { max } else { min };
        let optional = keywords.get("properties").and_then(Value::as_object);
        for (name, _) in optional.into_iter().flatten() {
            if self.members.len() >= target {
                break;
            }
            let _ = self.add(keywords, name);
        }
        for name in additional_names(keywords, self.builder, min) {
            if self.members.len() >= min {
                break;
            }
            let _ = self.add(keywords, &name);
        }
        Some(self.members)
    }

    /// Adds the member `name`; returns `None` if no value for it was found.
    fn add(&mut self, keywords: &Map<String, Value>, name: &str) -> Option<()> {
        if self.members.contains_key(name) {
            return Some(());
        }
        let schemas = self.builder.validator.member_schemas(keywords, name);
        let schema = match schemas.as_slice() {
            [] | [Value::Bool(true)] => json!({ "type": "string" }),
            [only] => (*only).clone(),
            several => json!({ "allOf": several }),
        };
        let path = format!("{}/{name}", self.position.path);
        let mut position = self.position.child(&path);
        if self.members.is_empty() {
            position.skip = self.variant;
            position.variety = self.position.variety;
        }
        let member = self.builder.build(&schema, position)?;
        self.members.insert(name.to_owned(), member);
        Some(())
    }
}

/// Merges the constraints of all dependencies that the required names trigger.
fn with_dependencies(flat: &FlatSchema, builder: &Builder<'_>) -> Option<FlatSchema> {
    let mut merged = flat.clone();
    for _ in 0..MAX_DEPENDENCY_ROUNDS {
        let required: Vec<String> =
            names(merged.keywords.get("required")).map(str::to_owned).collect();
        let constraints: Vec<Value> = ["dependentRequired", "dependentSchemas", "dependencies"]
            .into_iter()
            .filter_map(|keyword| merged.keywords.get(keyword).and_then(Value::as_object))
            .flatten()
            .filter(|(trigger, _)| required.contains(trigger))
            .map(|(_, constraint)| match constraint {
                Value::Array(_) => json!({ "required": constraint }),
                schema => schema.clone(),
            })
            .collect();
        for constraint in constraints {
            merged = merged.with(&constraint, builder.validator.refs)?;
        }
        if names(merged.keywords.get("required")).count() == required.len() {
            break;
        }
    }
    Some(merged)
}

fn names(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns names for further members that `minProperties` requires beyond the known properties.
fn additional_names(
    keywords: &Map<String, Value>,
    builder: &Builder<'_>,
    needed: usize,
) -> Vec<String> {
    if needed == 0 {
        return Vec::new();
    }
    let cache = builder.validator.patterns;
    let patterned = keywords
        .get("patternProperties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .flat_map(|(pattern, _)| cache.get(pattern).samples(1, needed));
    let mut additional: Vec<String> = patterned.collect();
    if let Some(rule) = keywords.get("propertyNames")
        && let Some(rule) = FlatSchema::of(rule, builder.validator.refs)
    {
        let listed = rule.keywords.get("enum");
        additional.extend(names(listed).map(str::to_owned));
        additional.extend(strings(&rule.keywords, &rule.patterns, cache, Hints::default(), needed));
        additional.retain(|name| {
            let name = Value::String(name.clone());
            keywords
                .get("propertyNames")
                .is_none_or(|rule| builder.validator.may_accept(rule, &name))
        });
    } else {
        additional.push(DEFAULT_TEXT.to_owned());
        additional
            .extend((2..=needed.saturating_add(1)).map(|number| format!("{DEFAULT_TEXT}{number}")));
    }
    additional
}

#[cfg(test)]
mod tests {
    use super::super::tests::example_of;
    use serde_json::json;

    #[test]
    fn only_required_members_are_built_in_the_order_of_required() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
            "required": ["b", "a"]
        });
        assert_eq!(example_of(&schema).unwrap().to_string(), r#"{"b":true,"a":1}"#);
    }

    #[test]
    fn required_names_without_a_property_use_the_schema_that_applies() {
        for (schema, expected) in [
            (json!({"required": ["a"]}), json!({"a": "example"})),
            (
                json!({"required": ["a"], "additionalProperties": {"type": "integer"}}),
                json!({"a": 1}),
            ),
            (
                json!({"required": ["n_x"], "patternProperties": {"^n_": {"type": "null"}}}),
                json!({"n_x": null}),
            ),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn min_properties_is_reached_with_known_names_first() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "null"}}, "minProperties": 2});
        assert_eq!(example_of(&schema), Some(json!({"a": null, "example": "example"})));
    }

    #[test]
    fn additional_names_satisfy_property_names() {
        let listed = json!({"minProperties": 1, "propertyNames": {"enum": ["only"]}});
        assert_eq!(example_of(&listed), Some(json!({"only": "example"})));
        let patterned = json!({
            "minProperties": 2,
            "patternProperties": {"^k[0-9]$": {"type": "integer"}},
            "additionalProperties": false
        });
        assert_eq!(example_of(&patterned), Some(json!({"k1": 1, "k2": 1})));
    }

    #[test]
    fn triggered_dependencies_are_satisfied_transitively() {
        for keyword in ["dependentRequired", "dependencies"] {
            let schema = json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "required": ["a"],
                keyword: {"a": ["b"], "b": ["c"], "x": ["y"]}
            });
            let example = example_of(&schema).unwrap();
            assert_eq!(
                example,
                json!({"a": "example", "b": "example", "c": "example"}),
                "{keyword}"
            );
        }
    }

    #[test]
    fn one_of_several_sets_of_required_names_is_chosen() {
        let schema = json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            "oneOf": [{"required": ["id"]}, {"required": ["name"]}]
        });
        assert_eq!(example_of(&schema), Some(json!({"id": 1})));
    }

    #[test]
    fn forbidden_required_member_yields_no_example() {
        assert_eq!(
            example_of(&json!({"required": ["a"], "properties": {"a": false}, "type": "object"})),
            None
        );
    }
}
