//! Validates values against subschemas, as far as this is possible without the real validator.
//!
//! The real validator only accepts or rejects whole examples. With this one the builder can drop an
//! outdated `default` or a wrong branch locally, so that ten uncertain positions do not need 2^10
//! attempts. The result is three-valued: `None` means unknown, and only `Some(false)` drops a
//! value.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::assertions;
use super::pattern::PatternCache;
use super::refs::Refs;
use super::string::count;
use super::three_valued::{all, any, exactly_one};

/// Maximum nesting of subschemas that are evaluated.
const MAX_DEPTH: usize = 64;

/// Validates values against the subschemas of one document.
pub(super) struct PartialValidator<'a> {
    pub(super) refs: &'a Refs<'a>,
    pub(super) patterns: &'a PatternCache,
    /// Remaining number of subschemas to evaluate; at zero every result is unknown.
    pub(super) fuel: Cell<usize>,
}

impl PartialValidator<'_> {
    /// Whether `value` is not known to violate `schema`.
    pub(super) fn may_accept(&self, schema: &Value, value: &Value) -> bool {
        self.validate(schema, value, 0) != Some(false)
    }

    fn validate(&self, schema: &Value, value: &Value, depth: usize) -> Option<bool> {
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
        if !assertions::are_satisfied(keywords, value) {
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
        let validate = |schema: &Value| self.validate(schema, value, depth);
        let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        let referenced = ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .filter_map(|keyword| keywords.get(keyword).and_then(Value::as_str))
            .map(|reference| self.refs.resolve(reference).and_then(validate));
        all([
            all(referenced),
            branches("allOf").map_or(Some(true), |list| all(list.iter().map(validate))),
            branches("anyOf").map_or(Some(true), |list| any(list.iter().map(validate))),
            branches("oneOf").map_or(Some(true), |list| exactly_one(list.iter().map(validate))),
            keywords.get("not").map_or(Some(true), |schema| validate(schema).map(|valid| !valid)),
            conditional(keywords, validate),
        ])
    }

    fn object(&self, keywords: &Map<String, Value>, value: &Value, depth: usize) -> Option<bool> {
        let Value::Object(members) = value else {
            return Some(true);
        };
        let name_rule = keywords.get("propertyNames");
        let named = members.keys().map(|name| {
            name_rule.map_or(Some(true), |schema| {
                self.validate(schema, &Value::String(name.clone()), depth)
            })
        });
        let valued = members.iter().map(|(name, member)| {
            let schemas = self.member_schemas(keywords, name);
            all(schemas.into_iter().map(|schema| self.validate(schema, member, depth)))
        });
        let dependent = ["dependentSchemas", "dependencies"]
            .into_iter()
            .filter_map(|keyword| keywords.get(keyword).and_then(Value::as_object))
            .flatten()
            .filter(|(name, schema)| members.contains_key(*name) && !schema.is_array())
            .map(|(_, schema)| self.validate(schema, value, depth));
        all(named.chain(valued).chain(dependent))
    }

    /// Returns every subschema that the member `name` must satisfy.
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
                .map_or(Some(true), |schema| self.validate(schema, item, depth))
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
        let results: Vec<_> = items.iter().map(|item| self.validate(schema, item, depth)).collect();
        let certain = results.iter().filter(|result| **result == Some(true)).count();
        let possible = results.iter().filter(|result| **result != Some(false)).count();
        let min = count(keywords, "minContains").unwrap_or(1);
        let max = count(keywords, "maxContains").unwrap_or(usize::MAX);
        match (possible < min || certain > max, certain >= min && possible <= max) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }
}

/// Unevaluated members depend on all applied branches, which are not tracked.
fn depends_on_evaluation(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems")
}

fn conditional(
    keywords: &Map<String, Value>,
    validate: impl Fn(&Value) -> Option<bool>,
) -> Option<bool> {
    let Some(condition) = keywords.get("if") else {
        return Some(true);
    };
    let branch = |keyword: &str| keywords.get(keyword).map_or(Some(true), &validate);
    match validate(condition) {
        Some(true) => branch("then"),
        Some(false) => branch("else"),
        None => (branch("then") == Some(true) && branch("else") == Some(true)).then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::PatternCache;
    use super::super::refs::Refs;
    use super::PartialValidator;
    use serde_json::{Value, json};
    use std::cell::Cell;

    fn validate(schema: &Value, value: &Value) -> Option<bool> {
        let validator = PartialValidator {
            refs: &Refs::new(schema),
            patterns: &PatternCache::default(),
            fuel: Cell::new(1000),
        };
        validator.validate(schema, value, 0)
    }

    #[test]
    fn valid_and_invalid_values_are_distinguished() {
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
            assert_eq!(validate(&schema, &good), Some(true), "{schema} {good}");
            assert_eq!(validate(&schema, &bad), Some(false), "{schema} {bad}");
        }
    }

    #[test]
    fn undecidable_constraints_yield_unknown() {
        for schema in [
            json!({"format": "email"}),
            json!({"not": {"format": "email"}}),
            json!({"pattern": "(?!b)a"}),
            json!({"$ref": "elsewhere.json"}),
            json!({"oneOf": [{"format": "email"}, {"type": "string"}]}),
        ] {
            assert_eq!(validate(&schema, &json!("a")), None, "{schema}");
        }
    }

    #[test]
    fn self_reference_yields_unknown() {
        assert_eq!(validate(&json!({"$ref": "#"}), &json!(1)), None);
    }
}
