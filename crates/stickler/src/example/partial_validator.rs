//! Judges whether a value fits a subschema, as far as that can be told here.
//!
//! The real validator only judges the whole; this judge lets the builder drop a
//! stale `default` or a wrong branch where it stands, so that ten doubtful
//! places do not need two to the tenth attempts. It is three-valued: `None` is
//! "cannot tell", and only a definite `Some(false)` drops a value.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::assertions;
use super::pattern::PatternCache;
use super::refs::Refs;
use super::string::count;
use super::verdict::{all, any, exactly_one};

const MAX_DEPTH: usize = 64;

/// Judges values against the subschemas of one document.
pub(super) struct Judge<'a> {
    pub(super) refs: &'a Refs<'a>,
    pub(super) patterns: &'a PatternCache,
    /// How many more subschemas may be looked at; at zero every verdict is open.
    pub(super) fuel: Cell<usize>,
}

impl Judge<'_> {
    /// Whether `value` is not known to break `schema`.
    pub(super) fn may_fit(&self, schema: &Value, value: &Value) -> bool {
        self.verdict(schema, value, 0) != Some(false)
    }

    fn verdict(&self, schema: &Value, value: &Value, depth: usize) -> Option<bool> {
        let keywords = match schema {
            Value::Bool(allowed) => return Some(*allowed),
            Value::Object(keywords) => keywords,
            _ => return None,
        };
        let fuel = self.fuel.get();
        if fuel == 0 || depth > MAX_DEPTH {
            return None;
        }
        self.fuel.set(fuel - 1);
        if !assertions::hold(keywords, value) {
            return Some(false);
        }
        let text = value.as_str().map_or(Some(true), |text| self.text(keywords, text));
        let members = self.object(keywords, value, depth + 1);
        let items =
            value.as_array().map_or(Some(true), |items| self.array(keywords, items, depth + 1));
        let evaluated = (!depends_on_evaluation(keywords)).then_some(true);
        let combined = self.combined(keywords, value, depth + 1);
        all([text, members, items, evaluated, combined])
    }

    fn text(&self, keywords: &Map<String, Value>, text: &str) -> Option<bool> {
        let matched = keywords
            .get("pattern")
            .and_then(Value::as_str)
            .map_or(Some(true), |pattern| self.patterns.get(pattern).is_match(text));
        let formatted = (!keywords.contains_key("format")).then_some(true);
        all([matched, formatted])
    }

    fn combined(&self, keywords: &Map<String, Value>, value: &Value, depth: usize) -> Option<bool> {
        let judge = |schema: &Value| self.verdict(schema, value, depth);
        let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        let referenced = ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .filter_map(|keyword| keywords.get(keyword).and_then(Value::as_str))
            .map(|reference| self.refs.resolve(reference).and_then(judge));
        all([
            all(referenced),
            branches("allOf").map_or(Some(true), |list| all(list.iter().map(judge))),
            branches("anyOf").map_or(Some(true), |list| any(list.iter().map(judge))),
            branches("oneOf").map_or(Some(true), |list| exactly_one(list.iter().map(judge))),
            keywords.get("not").map_or(Some(true), |schema| judge(schema).map(|fits| !fits)),
            conditional(keywords, judge),
        ])
    }

    fn object(&self, keywords: &Map<String, Value>, value: &Value, depth: usize) -> Option<bool> {
        let Value::Object(members) = value else {
            return Some(true);
        };
        let name_rule = keywords.get("propertyNames");
        let named = members.keys().map(|name| {
            name_rule.map_or(Some(true), |schema| {
                self.verdict(schema, &Value::String(name.clone()), depth)
            })
        });
        let valued = members.iter().map(|(name, member)| {
            let schemas = self.member_schemas(keywords, name);
            all(schemas.into_iter().map(|schema| self.verdict(schema, member, depth)))
        });
        let dependent = ["dependentSchemas", "dependencies"]
            .into_iter()
            .filter_map(|keyword| keywords.get(keyword).and_then(Value::as_object))
            .flatten()
            .filter(|(name, schema)| members.contains_key(*name) && !schema.is_array())
            .map(|(_, schema)| self.verdict(schema, value, depth));
        all(named.chain(valued).chain(dependent))
    }

    /// Every subschema that the member `name` has to satisfy.
    pub(super) fn member_schemas<'k>(
        &self,
        keywords: &'k Map<String, Value>,
        name: &str,
    ) -> Vec<&'k Value> {
        let table = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        let mut schemas: Vec<&Value> = Vec::new();
        schemas.extend(table("properties").and_then(|properties| properties.get(name)));
        let matching = table("patternProperties")
            .into_iter()
            .flatten()
            .filter(|(pattern, _)| self.patterns.get(pattern).is_match(name) != Some(false));
        schemas.extend(matching.map(|(_, schema)| schema));
        if schemas.is_empty() {
            schemas.extend(keywords.get("additionalProperties"));
        }
        schemas
    }

    fn array(&self, keywords: &Map<String, Value>, items: &[Value], depth: usize) -> Option<bool> {
        let prefix = ["prefixItems", "items"]
            .into_iter()
            .find_map(|keyword| keywords.get(keyword).and_then(Value::as_array));
        let rest = match keywords.get("items") {
            Some(Value::Array(_)) => keywords.get("additionalItems"),
            other => other,
        };
        let each = items.iter().enumerate().map(|(index, item)| {
            prefix
                .and_then(|prefix| prefix.get(index))
                .or(rest)
                .map_or(Some(true), |schema| self.verdict(schema, item, depth))
        });
        all([all(each), self.contains(keywords, items, depth)])
    }

    fn contains(
        &self,
        keywords: &Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Option<bool> {
        let Some(schema) = keywords.get("contains") else {
            return Some(true);
        };
        let verdicts: Vec<_> = items.iter().map(|item| self.verdict(schema, item, depth)).collect();
        let sure = verdicts.iter().filter(|verdict| **verdict == Some(true)).count();
        let possible = verdicts.iter().filter(|verdict| **verdict != Some(false)).count();
        let least = count(keywords, "minContains").unwrap_or(1);
        let most = count(keywords, "maxContains").unwrap_or(usize::MAX);
        match (possible < least || sure > most, sure >= least && possible <= most) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }
}

/// What is left unevaluated depends on every branch taken, which is not tracked here.
fn depends_on_evaluation(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems")
}

fn conditional(
    keywords: &Map<String, Value>,
    judge: impl Fn(&Value) -> Option<bool>,
) -> Option<bool> {
    let Some(condition) = keywords.get("if") else {
        return Some(true);
    };
    let branch = |keyword: &str| keywords.get(keyword).map_or(Some(true), &judge);
    match judge(condition) {
        Some(true) => branch("then"),
        Some(false) => branch("else"),
        None => (branch("then") == Some(true) && branch("else") == Some(true)).then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::PatternCache;
    use super::super::refs::Refs;
    use super::Judge;
    use serde_json::{Value, json};
    use std::cell::Cell;

    fn verdict(schema: &Value, value: &Value) -> Option<bool> {
        let judge = Judge {
            refs: &Refs::new(schema),
            patterns: &PatternCache::default(),
            fuel: Cell::new(1000),
        };
        judge.verdict(schema, value, 0)
    }

    #[test]
    fn what_holds_and_what_does_not_is_told() {
        for (schema, good, bad) in [
            (json!({"pattern": "^a"}), json!("a"), json!("b")),
            (json!({"not": {"type": "null"}}), json!(1), json!(null)),
            (
                json!({"anyOf": [{"type": "null"}, {"minimum": 2, "type": "number"}]}),
                json!(2),
                json!(1),
            ),
            (json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}), json!(1.5), json!(1)),
            (json!({"if": {"const": 1}, "then": false}), json!(2), json!(1)),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": {"const": 1}}}), json!(1.0), json!(2)),
            (
                json!({"patternProperties": {"^x": {"type": "null"}}}),
                json!({"x": null}),
                json!({"x": 1}),
            ),
            (
                json!({"additionalProperties": false, "properties": {"a": true}}),
                json!({"a": 1}),
                json!({"b": 1}),
            ),
            (json!({"propertyNames": {"maxLength": 1}}), json!({"a": 1}), json!({"ab": 1})),
            (json!({"items": [{"const": 1}], "additionalItems": false}), json!([1]), json!([1, 2])),
            (
                json!({"prefixItems": [{"const": 1}], "items": {"const": 2}}),
                json!([1, 2]),
                json!([1, 1]),
            ),
            (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1])),
            (
                json!({"dependencies": {"a": {"required": ["b"]}}}),
                json!({"a": 1, "b": 1}),
                json!({"a": 1}),
            ),
        ] {
            assert_eq!(verdict(&schema, &good), Some(true), "{schema} {good}");
            assert_eq!(verdict(&schema, &bad), Some(false), "{schema} {bad}");
        }
    }

    #[test]
    fn what_cannot_be_told_stays_open() {
        for schema in [
            json!({"format": "email"}),
            json!({"not": {"format": "email"}}),
            json!({"pattern": "(?!b)a"}),
            json!({"$ref": "elsewhere.json"}),
            json!({"oneOf": [{"format": "email"}, {"type": "string"}]}),
        ] {
            assert_eq!(verdict(&schema, &json!("a")), None, "{schema}");
        }
    }

    #[test]
    fn a_reference_to_itself_stays_open() {
        assert_eq!(verdict(&json!({"$ref": "#"}), &json!(1)), None);
    }
}
