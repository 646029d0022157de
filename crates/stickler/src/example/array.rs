//! Builds arrays with one representative element if possible, and more if required.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::builder::{Builder, Position};
use super::candidates::CandidateSink;
use super::flat_schema::FlatSchema;
use super::string::count;

/// Maximum value of `minItems` for which an array is built.
const MAX_ELEMENTS: usize = 256;

/// Offers arrays for `flat`: the preferred length first, then the shortest, then longer ones.
pub(super) fn offer(
    builder: &Builder<'_>,
    flat: &FlatSchema,
    position: Position<'_>,
    sink: &mut CandidateSink<'_>,
) -> ControlFlow<()> {
    let constraints = ArrayConstraints::of(flat);
    if constraints.min_items > MAX_ELEMENTS {
        return ControlFlow::Continue(());
    }
    let preferred = constraints.preferred_length();
    let mut lengths = vec![preferred, constraints.min_items, preferred + 1];
    lengths.retain(|length| (constraints.min_items..=constraints.max_items).contains(length));
    for variant in 0..=position.variety {
        for &length in &lengths {
            let Some(elements) = constraints.fill(builder, position, length, variant) else {
                // A required element does not have a value, and other lengths would not change
                // that.
                return ControlFlow::Continue(());
            };
            sink(Value::Array(elements))?;
        }
    }
    ControlFlow::Continue(())
}

struct ArrayConstraints<'f> {
    prefix: &'f [Value],
    rest: Option<&'f Value>,
    contains: Option<&'f Value>,
    min_contained: usize,
    min_items: usize,
    max_items: usize,
    unique: bool,
}

impl<'f> ArrayConstraints<'f> {
    fn of(flat: &'f FlatSchema) -> Self {
        let keywords = &flat.keywords;
        let contains = keywords.get("contains");
        let min_contained = match contains {
            Some(_) => count(keywords, "minContains").unwrap_or(1),
            None => 0,
        };
        let prefix = keywords.get("prefixItems").and_then(Value::as_array);
        Self {
            prefix: prefix.map(Vec::as_slice).unwrap_or_default(),
            rest: keywords.get("items"),
            contains,
            min_contained,
            min_items: count(keywords, "minItems").unwrap_or(0).max(min_contained),
            max_items: count(keywords, "maxItems").unwrap_or(usize::MAX),
            unique: keywords.get("uniqueItems") == Some(&Value::Bool(true)),
        }
    }

    /// Returns the length of a complete tuple, or one element if the schema describes elements.
    fn preferred_length(&self) -> usize {
        let described = match self.rest {
            Some(Value::Bool(_)) | None => self.prefix.len(),
            Some(_) => self.prefix.len().max(1),
        };
        let with_contained = match self.min_contained {
            0 => 0,
            // The elements of the tuple may not satisfy `contains`.
            contained => self.prefix.len().saturating_add(contained),
        };
        self.min_items.max(described).max(with_contained).min(self.max_items)
    }

    /// Builds `length` elements, or fewer if an optional element does not have a value.
    fn fill(
        &self,
        builder: &Builder<'_>,
        position: Position<'_>,
        length: usize,
        variant: usize,
    ) -> Option<Vec<Value>> {
        let mut elements: Vec<Value> = Vec::new();
        for index in 0..length.min(MAX_ELEMENTS) {
            let path = format!("{}/{index}", position.path);
            let mut child = position.child(&path);
            if self.unique {
                child.variety = index + 1;
            }
            if index == 0 {
                child.skip = variant;
                child.variety = child.variety.max(position.variety);
            }
            let taken = if self.unique { elements.as_slice() } else { &[] };
            match builder.build_distinct(&self.schema_at(index, length), child, taken) {
                Some(element) => elements.push(element),
                None if elements.len() >= self.min_items => break,
                None => return None,
            }
        }
        Some(elements)
    }

    fn schema_at(&self, index: usize, length: usize) -> Value {
        let schema = match (self.prefix.get(index), self.rest) {
            (Some(element), _) | (None, Some(element)) => element.clone(),
            (None, None) => Value::Bool(true),
        };
        match self.contains {
            // The last elements satisfy `contains`, so that tuple positions stay free if possible.
            Some(contained) if index.saturating_add(self.min_contained) >= length => {
                json!({ "allOf": [schema, contained] })
            }
            _ => schema,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example_of;
    use serde_json::json;

    #[test]
    fn one_element_is_built_if_elements_are_described() {
        for (schema, expected) in [
            (json!({"type": "array", "items": {"type": "integer"}}), json!([1])),
            (json!({"type": "array", "items": {"type": "integer"}, "maxItems": 0}), json!([])),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([1, 1])),
            (json!({"type": "array"}), json!([])),
            (json!({"type": "array", "items": false}), json!([])),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn tuples_of_both_notations_are_filled_in_order() {
        let positions = json!([{"type": "string"}, {"type": "boolean"}]);
        let old = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array", "items": positions, "additionalItems": false
        });
        let new = json!({"type": "array", "prefixItems": positions, "items": false});
        for schema in [old, new] {
            assert_eq!(example_of(&schema), Some(json!(["example", true])), "{schema}");
        }
    }

    #[test]
    fn unique_elements_differ() {
        for items in [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"enum": ["a", "b", "c", "d"]}),
            json!({"type": "string", "pattern": "^[A-Z]{2}$"}),
            json!({"type": "string", "format": "uuid", "pattern": "-"}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "boolean"}]}),
        ] {
            let schema =
                json!({"type": "array", "items": items, "minItems": 3, "uniqueItems": true});
            assert!(example_of(&schema).is_some(), "{schema}");
        }
    }

    #[test]
    fn contains_constraint_is_satisfied() {
        let schema = json!({
            "type": "array",
            "items": {"type": "integer"},
            "contains": {"minimum": 7},
            "minContains": 2,
            "minItems": 3
        });
        assert_eq!(example_of(&schema), Some(json!([1, 7, 7])));
    }

    #[test]
    fn recursive_element_is_omitted() {
        let schema = json!({
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["children"]
        });
        assert_eq!(example_of(&schema), Some(json!({"children": []})));
    }
}
