//! Offers the candidates for one schema node, best first.
//!
//! The author's own values come first, then the branches of a choice, then what
//! each type's generator makes of the constraints.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::array;
use super::builder::{Builder, Spot};
use super::flat::{Choice, Flat, complexity};
use super::merge::type_names;
use super::number::numbers;
use super::object;
use super::plan::Annotations;
use super::string::strings;

/// A chosen branch can hold further choices, each of them a level of the stack.
const MAX_DECISIONS: usize = 12;

/// The order in which types are tried where the schema leaves the type open.
const ANY_TYPE: [&str; 6] = ["string", "object", "integer", "boolean", "array", "null"];

/// Takes a candidate: breaks to end the offering, or continues saying whether it fitted.
pub(super) type Take<'t> = dyn FnMut(Value) -> ControlFlow<(), bool> + 't;

impl Builder<'_> {
    /// Offers values for `flat` until `take` breaks.
    pub(super) fn offer(
        &self,
        flat: &Flat,
        spot: Spot<'_>,
        take: &mut Take<'_>,
    ) -> ControlFlow<()> {
        for annotation in self.annotations(&flat.keywords) {
            take(annotation.clone())?;
        }
        if let Some(constant) = flat.keywords.get("const") {
            take(constant.clone())?;
        } else if let Some(Value::Array(entries)) = flat.keywords.get("enum") {
            let (nulls, others): (Vec<_>, Vec<_>) = entries.iter().partition(|e| e.is_null());
            for entry in others.into_iter().chain(nulls) {
                take(entry.clone())?;
            }
        } else if let Some((choice, others)) = flat.choices.split_first() {
            let undecided = Flat {
                choices: others.to_vec(),
                decisions: flat.decisions + 1,
                keywords: without_annotations(&flat.keywords),
                ..flat.clone()
            };
            self.offer_branches(&undecided, choice, spot, take)?;
        } else {
            self.offer_types(flat, spot, take)?;
        }
        // A null default only says "may be left out", so it is the last resort.
        let null_default = flat.keywords.get("default").filter(|value| value.is_null());
        null_default.map_or(ControlFlow::Continue(()), |null| take(null.clone()).map_continue(drop))
    }

    fn annotations<'f>(&self, keywords: &'f Map<String, Value>) -> Vec<&'f Value> {
        let mut found: Vec<&Value> = Vec::new();
        if self.plan.annotations == Annotations::All {
            if let Some(Value::Array(examples)) = keywords.get("examples") {
                found.extend(examples);
            }
            found.extend(keywords.get("example"));
        }
        if self.plan.annotations != Annotations::None {
            found.extend(keywords.get("default").filter(|value| !value.is_null()));
        }
        found
    }

    fn offer_branches(
        &self,
        undecided: &Flat,
        choice: &Choice,
        spot: Spot<'_>,
        take: &mut Take<'_>,
    ) -> ControlFlow<()> {
        let mut branches: Vec<&Value> = choice.branches.iter().collect();
        if choice.rank {
            branches.sort_by_cached_key(|branch| complexity(branch, self.judge.refs));
        }
        let turns = self.plan.shift % branches.len().max(1);
        branches.rotate_left(turns);
        let known = undecided.followed.len();
        // One value of each branch first; more of the same only where variety is asked for.
        for exhaustive in [false, true] {
            if exhaustive && spot.variety <= 1 {
                break;
            }
            for branch in &branches {
                if undecided.decisions > MAX_DECISIONS || !self.spend_node() {
                    return ControlFlow::Continue(());
                }
                let Some(decided) = undecided.with(branch, self.judge.refs) else {
                    continue;
                };
                self.entering(&decided, known, || {
                    if exhaustive {
                        self.offer(&decided, spot, take)
                    } else {
                        first_fit(take, |take| self.offer(&decided, spot, take))
                    }
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn offer_types(&self, flat: &Flat, spot: Spot<'_>, take: &mut Take<'_>) -> ControlFlow<()> {
        let types = ordered_types(flat);
        if let [only] = types.as_slice() {
            return self.offer_type(only, flat, spot, take);
        }
        for name in types {
            first_fit(take, |take| self.offer_type(name, flat, spot, take))?;
        }
        ControlFlow::Continue(())
    }

    fn offer_type(
        &self,
        name: &str,
        flat: &Flat,
        spot: Spot<'_>,
        take: &mut Take<'_>,
    ) -> ControlFlow<()> {
        let scalars: Vec<Value> = match name {
            "object" => return object::offer(self, flat, spot, take),
            "array" => return array::offer(self, flat, spot, take),
            "string" => {
                let drafts =
                    strings(&flat.keywords, &flat.patterns, self.judge.patterns, spot.variety);
                drafts.into_iter().map(Value::String).collect()
            }
            "integer" => numbers(&flat.keywords, true, spot.variety),
            "number" => numbers(&flat.keywords, false, spot.variety),
            "boolean" => vec![Value::Bool(true), Value::Bool(false)],
            "null" => vec![Value::Null],
            _ => Vec::new(),
        };
        for scalar in scalars {
            take(scalar)?;
        }
        ControlFlow::Continue(())
    }
}

/// Lets `offering` go on until one candidate fits, then ends it without ending its caller.
fn first_fit(
    take: &mut Take<'_>,
    offering: impl FnOnce(&mut Take<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut ended = false;
    let _ = offering(&mut |candidate| match take(candidate) {
        ControlFlow::Continue(false) => ControlFlow::Continue(false),
        ControlFlow::Continue(true) => ControlFlow::Break(()),
        ControlFlow::Break(()) => {
            ended = true;
            ControlFlow::Break(())
        }
    });
    if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn without_annotations(keywords: &Map<String, Value>) -> Map<String, Value> {
    let is_annotation = |key: &str| matches!(key, "examples" | "example" | "default");
    keywords
        .iter()
        .filter(|(key, _)| !is_annotation(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The types to try, `null` last; where none is given, the one the keywords speak of first.
fn ordered_types(flat: &Flat) -> Vec<&str> {
    if let Some(given) = flat.keywords.get("type") {
        let (nulls, others): (Vec<_>, Vec<_>) =
            type_names(given).into_iter().partition(|name| *name == "null");
        return others.into_iter().chain(nulls).collect();
    }
    let mentioned = flat.keywords.keys().find_map(|keyword| speaks_of(keyword));
    let mentioned = mentioned.or((!flat.patterns.is_empty()).then_some("string"));
    let others = ANY_TYPE.into_iter().filter(|name| Some(*name) != mentioned);
    mentioned.into_iter().chain(others).collect()
}

fn speaks_of(keyword: &str) -> Option<&'static str> {
    match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies" => Some("object"),
        "items" | "prefixItems" | "contains" | "minItems" | "maxItems" | "uniqueItems" => {
            Some("array")
        }
        "minLength" | "maxLength" | "format" => Some("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Some("number")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example_of;
    use serde_json::json;

    #[test]
    fn the_authors_own_values_come_first_in_their_order() {
        for (schema, expected) in [
            (json!({"type": "string", "examples": ["a"], "default": "b"}), json!("a")),
            (json!({"type": "string", "example": "o", "default": "b"}), json!("o")),
            (json!({"type": "string", "default": "b", "enum": ["a", "b"]}), json!("b")),
            (json!({"const": 7}), json!(7)),
            (json!({"enum": [null, "x"]}), json!("x")),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn an_annotation_that_does_not_fit_is_passed_over() {
        for (schema, expected) in [
            (json!({"type": "integer", "examples": ["1", 2]}), json!(2)),
            (json!({"type": "integer", "default": "x"}), json!(1)),
            (json!({"type": "string", "format": "date", "default": "today"}), json!("2024-01-15")),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn a_null_default_is_the_last_resort() {
        let schema = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
        assert_eq!(example_of(&schema), Some(json!("example")));
    }

    #[test]
    fn the_simplest_branch_is_taken_with_its_parents_siblings() {
        let schema = json!({
            "minimum": 3,
            "anyOf": [{"type": "null"}, {"type": "object"}, {"type": "integer", "multipleOf": 2}]
        });
        assert_eq!(example_of(&schema), Some(json!(4)));
    }

    #[test]
    fn a_branch_that_one_of_forbids_is_passed_over() {
        let schema = json!({"oneOf": [{"type": "integer"}, {"minimum": 1, "type": "number"}]});
        assert_eq!(example_of(&schema), Some(json!(0)));
    }

    #[test]
    fn the_first_type_that_is_not_null_is_used() {
        assert_eq!(example_of(&json!({"type": ["null", "boolean"]})), Some(json!(true)));
    }

    #[test]
    fn a_missing_type_is_read_from_the_keywords() {
        for (schema, expected) in [
            (json!({"properties": {}}), json!({})),
            (json!({"items": {"type": "null"}}), json!([null])),
            (json!({"pattern": "^x$"}), json!("x")),
            (json!({"minimum": 4}), json!(4)),
            (json!({}), json!("example")),
            (json!(true), json!("example")),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn conditionals_are_satisfied_either_way() {
        for (kind, expected) in
            [("a", json!({"kind": "a", "x": 1})), ("b", json!({"kind": "b", "y": true}))]
        {
            let schema = json!({
                "type": "object",
                "properties": {"kind": {"const": kind}},
                "required": ["kind"],
                "if": {"properties": {"kind": {"const": "a"}}},
                "then": {"required": ["x"], "properties": {"x": {"type": "integer"}}},
                "else": {"required": ["y"], "properties": {"y": {"type": "boolean"}}}
            });
            assert_eq!(example_of(&schema), Some(expected));
        }
    }
}
