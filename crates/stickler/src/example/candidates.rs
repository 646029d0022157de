//! Offers the candidates for a schema node, best first.
//!
//! Annotations of the schema come first, then the branches of a choice, then the generated values
//! of each type.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::array;
use super::builder::{Builder, Position};
use super::flat_schema::{Choice, FlatSchema, complexity};
use super::merge::type_names;
use super::number::numbers;
use super::object;
use super::plan::Annotations;
use super::realistic::Hints;
use super::string::strings;

/// Maximum number of nested choices, each of which adds a level to the stack.
const MAX_DECISIONS: usize = 12;

/// The order in which types are tried if the schema does not restrict the type.
const ANY_TYPE: [&str; 6] = ["string", "object", "integer", "boolean", "array", "null"];

/// Receives a candidate. `Break` stops the iteration; `Continue` contains whether the candidate was
/// valid.
pub(super) type CandidateSink<'t> = dyn FnMut(Value) -> ControlFlow<(), bool> + 't;

impl Builder<'_> {
    /// Offers values for `flat` until `sink` returns `Break`.
    pub(super) fn offer(
        &self,
        flat: &FlatSchema,
        position: Position<'_>,
        sink: &mut CandidateSink<'_>,
    ) -> ControlFlow<()> {
        for annotation in self.annotations(&flat.keywords) {
            sink(annotation.clone())?;
        }
        if let Some(constant) = flat.keywords.get("const") {
            sink(constant.clone())?;
        } else if let Some(Value::Array(entries)) = flat.keywords.get("enum") {
            let (nulls, others): (Vec<_>, Vec<_>) = entries.iter().partition(|e| e.is_null());
            for entry in others.into_iter().chain(nulls) {
                sink(entry.clone())?;
            }
        } else if let Some((choice, others)) = flat.choices.split_first() {
            let undecided = FlatSchema {
                choices: others.to_vec(),
                decisions: flat.decisions + 1,
                keywords: without_annotations(&flat.keywords),
                ..flat.clone()
            };
            self.offer_branches(&undecided, choice, position, sink)?;
        } else {
            self.offer_types(flat, position, sink)?;
        }
        // A null default usually means that the field is optional, so it is tried last.
        let null_default = flat.keywords.get("default").filter(|value| value.is_null());
        null_default.map_or(ControlFlow::Continue(()), |null| sink(null.clone()).map_continue(drop))
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
        undecided: &FlatSchema,
        choice: &Choice,
        position: Position<'_>,
        sink: &mut CandidateSink<'_>,
    ) -> ControlFlow<()> {
        let mut branches: Vec<&Value> = choice.branches.iter().collect();
        if choice.sort_by_complexity {
            branches.sort_by_cached_key(|branch| complexity(branch, self.validator.refs));
        }
        let rotation = self.plan.shift % branches.len().max(1);
        branches.rotate_left(rotation);
        let already_open = undecided.followed.len();
        // One value of each branch comes first, and further values only if variety is requested.
        for exhaustive in [false, true] {
            if exhaustive && position.variety <= 1 {
                break;
            }
            for branch in &branches {
                if undecided.decisions > MAX_DECISIONS || !self.spend_node() {
                    return ControlFlow::Continue(());
                }
                let Some(decided) = undecided.with(branch, self.validator.refs) else {
                    continue;
                };
                self.enter_references(&decided, already_open, || {
                    if exhaustive {
                        self.offer(&decided, position, sink)
                    } else {
                        first_valid(sink, |sink| self.offer(&decided, position, sink))
                    }
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn offer_types(
        &self,
        flat: &FlatSchema,
        position: Position<'_>,
        sink: &mut CandidateSink<'_>,
    ) -> ControlFlow<()> {
        let types = ordered_types(flat);
        if let [only] = types.as_slice() {
            return self.offer_type(only, flat, position, sink);
        }
        for name in types {
            first_valid(sink, |sink| self.offer_type(name, flat, position, sink))?;
        }
        ControlFlow::Continue(())
    }

    fn offer_type(
        &self,
        name: &str,
        flat: &FlatSchema,
        position: Position<'_>,
        sink: &mut CandidateSink<'_>,
    ) -> ControlFlow<()> {
        let hints = Hints::at(position.path, flat.keywords.get("description"));
        let scalars: Vec<Value> = match name {
            "object" => return object::offer(self, flat, position, sink),
            "array" => return array::offer(self, flat, position, sink),
            "string" => {
                let drafts = strings(
                    &flat.keywords,
                    &flat.patterns,
                    self.validator.patterns,
                    hints,
                    position.variety,
                );
                drafts.into_iter().map(Value::String).collect()
            }
            "integer" | "number" => {
                let is_integer = name == "integer";
                let mut numbers = numbers(&flat.keywords, is_integer, position.variety);
                let hinted = hints.numbers().into_iter();
                let hinted = hinted.filter(|number| number.is_i64() || !is_integer);
                numbers.splice(0..0, hinted);
                numbers
            }
            "boolean" => vec![Value::Bool(true), Value::Bool(false)],
            "null" => vec![Value::Null],
            _ => Vec::new(),
        };
        for scalar in scalars {
            sink(scalar)?;
        }
        ControlFlow::Continue(())
    }
}

/// Runs `offering` until one candidate is valid, without stopping the iteration of the caller.
fn first_valid(
    sink: &mut CandidateSink<'_>,
    offering: impl FnOnce(&mut CandidateSink<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut is_stopped = false;
    let _ = offering(&mut |candidate| match sink(candidate) {
        ControlFlow::Continue(false) => ControlFlow::Continue(false),
        ControlFlow::Continue(true) => ControlFlow::Break(()),
        ControlFlow::Break(()) => {
            is_stopped = true;
            ControlFlow::Break(())
        }
    });
    if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn without_annotations(keywords: &Map<String, Value>) -> Map<String, Value> {
    let is_annotation = |key: &str| matches!(key, "examples" | "example" | "default");
    keywords
        .iter()
        .filter(|(key, _)| !is_annotation(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Returns the types to try, `null` last. Without `type`, the type that the keywords imply comes
/// first.
fn ordered_types(flat: &FlatSchema) -> Vec<&str> {
    if let Some(given) = flat.keywords.get("type") {
        let (nulls, others): (Vec<_>, Vec<_>) =
            type_names(given).into_iter().partition(|name| *name == "null");
        return others.into_iter().chain(nulls).collect();
    }
    let implied = flat.keywords.keys().find_map(|keyword| implied_type(keyword));
    let implied = implied.or((!flat.patterns.is_empty()).then_some("string"));
    let others = ANY_TYPE.into_iter().filter(|name| Some(*name) != implied);
    implied.into_iter().chain(others).collect()
}

fn implied_type(keyword: &str) -> Option<&'static str> {
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
    fn annotations_come_first_in_their_order() {
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
    fn invalid_annotation_is_skipped() {
        for (schema, expected) in [
            (json!({"type": "integer", "examples": ["1", 2]}), json!(2)),
            (json!({"type": "integer", "default": "x"}), json!(1)),
            (json!({"type": "string", "format": "date", "default": "today"}), json!("2024-01-15")),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn null_default_is_tried_last() {
        let schema = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
        assert_eq!(example_of(&schema), Some(json!("example")));
    }

    #[test]
    fn simplest_branch_is_merged_with_the_parent() {
        let schema = json!({
            "minimum": 3,
            "anyOf": [{"type": "null"}, {"type": "object"}, {"type": "integer", "multipleOf": 2}]
        });
        assert_eq!(example_of(&schema), Some(json!(4)));
    }

    #[test]
    fn branch_that_one_of_forbids_is_skipped() {
        let schema = json!({"oneOf": [{"type": "integer"}, {"minimum": 1, "type": "number"}]});
        assert_eq!(example_of(&schema), Some(json!(0)));
    }

    #[test]
    fn first_non_null_type_is_used() {
        assert_eq!(example_of(&json!({"type": ["null", "boolean"]})), Some(json!(true)));
    }

    #[test]
    fn missing_type_is_implied_by_the_keywords() {
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
    fn both_branches_of_conditionals_are_satisfied() {
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
