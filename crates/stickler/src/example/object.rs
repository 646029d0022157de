//! Builds objects: required properties first, others only where they are needed.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use super::builder::{Builder, Spot};
use super::candidates::Take;
use super::flat::Flat;
use super::string::{PLAIN, count, strings};

/// Deeper down, optional properties would only make an example unreadable.
const MAX_OPTIONAL_DEPTH: usize = 3;

/// More members than this are not worth an example, however many a schema demands.
const MAX_MEMBERS: usize = 256;

/// A dependency can trigger another; each round adds at least one.
const MAX_DEPENDENCY_ROUNDS: usize = 8;

/// Offers objects for `flat`: the leanest, a full one, then ones that differ in a member.
pub(super) fn offer(
    builder: &Builder<'_>,
    flat: &Flat,
    spot: Spot<'_>,
    take: &mut Take<'_>,
) -> ControlFlow<()> {
    let fills = if builder.plan.all_optional { [true, false] } else { [false, true] };
    for variant in 0..=spot.variety {
        for fill in fills {
            let draft = Draft { builder, spot, variant, members: Map::new() };
            let Some(members) = draft.complete(flat, fill) else {
                // A required member has no value, and no other draft would give it one.
                return ControlFlow::Continue(());
            };
            take(Value::Object(members))?;
        }
    }
    ControlFlow::Continue(())
}

struct Draft<'b> {
    builder: &'b Builder<'b>,
    spot: Spot<'b>,
    /// How many candidates the first member passes over, to tell objects apart.
    variant: usize,
    members: Map<String, Value>,
}

impl Draft<'_> {
    fn complete(mut self, flat: &Flat, fill: bool) -> Option<Map<String, Value>> {
        let flat = with_dependencies(flat, self.builder)?;
        let keywords = &flat.keywords;
        for name in names(keywords.get("required")) {
            self.add(keywords, name)?;
        }
        let most = count(keywords, "maxProperties").unwrap_or(usize::MAX);
        let least = count(keywords, "minProperties").unwrap_or(0);
        if least > MAX_MEMBERS {
            return None;
        }
        let wanted = if fill && self.spot.depth < MAX_OPTIONAL_DEPTH { most } else { least };
        let optional = keywords.get("properties").and_then(Value::as_object);
        for (name, _) in optional.into_iter().flatten() {
            if self.members.len() >= wanted {
                break;
            }
            let _ = self.add(keywords, name);
        }
        for name in spare_names(keywords, self.builder, least) {
            if self.members.len() >= least {
                break;
            }
            let _ = self.add(keywords, &name);
        }
        Some(self.members)
    }

    /// Adds the member `name`; `None` when no value for it was found.
    fn add(&mut self, keywords: &Map<String, Value>, name: &str) -> Option<()> {
        if self.members.contains_key(name) {
            return Some(());
        }
        let schemas = self.builder.judge.member_schemas(keywords, name);
        let schema = match schemas.as_slice() {
            [] | [Value::Bool(true)] => json!({ "type": "string" }),
            [only] => (*only).clone(),
            several => json!({ "allOf": several }),
        };
        let path = format!("{}/{name}", self.spot.path);
        let mut spot = self.spot.below(&path);
        if self.members.is_empty() {
            spot.skip = self.variant;
            spot.variety = self.spot.variety;
        }
        let member = self.builder.build(&schema, spot)?;
        self.members.insert(name.to_owned(), member);
        Some(())
    }
}

/// `flat` with the demands of every dependency that its required names trigger.
fn with_dependencies(flat: &Flat, builder: &Builder<'_>) -> Option<Flat> {
    let mut merged = flat.clone();
    for _ in 0..MAX_DEPENDENCY_ROUNDS {
        let required: Vec<String> =
            names(merged.keywords.get("required")).map(str::to_owned).collect();
        let demands: Vec<Value> = ["dependentRequired", "dependentSchemas", "dependencies"]
            .into_iter()
            .filter_map(|keyword| merged.keywords.get(keyword).and_then(Value::as_object))
            .flatten()
            .filter(|(trigger, _)| required.contains(trigger))
            .map(|(_, demand)| match demand {
                Value::Array(_) => json!({ "required": demand }),
                schema => schema.clone(),
            })
            .collect();
        for demand in demands {
            merged = merged.with(&demand, builder.judge.refs)?;
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

/// Names for members beyond the known properties, where `minProperties` wants more.
fn spare_names(keywords: &Map<String, Value>, builder: &Builder<'_>, wanted: usize) -> Vec<String> {
    if wanted == 0 {
        return Vec::new();
    }
    let cache = builder.judge.patterns;
    let patterned = keywords
        .get("patternProperties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .flat_map(|(pattern, _)| cache.get(pattern).samples(1, wanted));
    let mut spare: Vec<String> = patterned.collect();
    if let Some(rule) = keywords.get("propertyNames")
        && let Some(rule) = Flat::of(rule, builder.judge.refs)
    {
        let listed = rule.keywords.get("enum");
        spare.extend(names(listed).map(str::to_owned));
        spare.extend(strings(&rule.keywords, &rule.patterns, cache, wanted));
        spare.retain(|name| {
            let name = Value::String(name.clone());
            keywords.get("propertyNames").is_none_or(|rule| builder.judge.may_fit(rule, &name))
        });
    } else {
        spare.push(PLAIN.to_owned());
        spare.extend((2..=wanted.saturating_add(1)).map(|number| format!("{PLAIN}{number}")));
    }
    spare
}

#[cfg(test)]
mod tests {
    use super::super::tests::example_of;
    use serde_json::json;

    #[test]
    fn only_required_members_are_made_in_the_required_order() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
            "required": ["b", "a"]
        });
        assert_eq!(example_of(&schema).unwrap().to_string(), r#"{"b":true,"a":1}"#);
    }

    #[test]
    fn required_names_without_a_property_take_the_schema_that_covers_them() {
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
    fn spare_names_follow_the_rule_for_names() {
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
    fn triggered_dependencies_are_fulfilled_transitively() {
        for keyword in ["dependentRequired", "dependencies"] {
            let schema = json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "required": ["a"],
                keyword: {"a": ["b"], "b": ["c"], "x": ["y"]}
            });
            let made = example_of(&schema).unwrap();
            assert_eq!(made, json!({"a": "example", "b": "example", "c": "example"}), "{keyword}");
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
    fn a_forbidden_required_member_gives_nothing() {
        assert_eq!(
            example_of(&json!({"required": ["a"], "properties": {"a": false}, "type": "object"})),
            None
        );
    }
}
